/** Frames that cost no token, as they go over the wire: what a flood of them is made of. */
import { clientFrame, presenceMessage } from './raw-client.ts'

const binary = (...bytes: number[]): Buffer => clientFrame(0x2, Uint8Array.from(bytes), true)

/** What `announce` made known, sent back. */
export const announce = (): Buffer => clientFrame(0x2, presenceMessage([[5, 1, { name: 'x' }]]), true)

export const FREE_FRAMES = {
  echoes: announce(),
  'presence of nobody': binary(1, 1, 0),
  'empty updates': binary(0, 2, 2, 0, 0),
  SyncStep1s: binary(0, 0, 1, 0),
  'questions who is here': binary(3),
  pings: clientFrame(0x9, new Uint8Array(), true),
  pongs: clientFrame(0xa, new Uint8Array(), true),
} as const satisfies Record<string, Buffer>
export type FreeFrame = keyof typeof FREE_FRAMES
