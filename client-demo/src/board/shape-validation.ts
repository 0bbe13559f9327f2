/**
 * Everything on a board was written by somebody else's program. These checks are the only way from the shared document to the
 * page (kinds/kinds.ts `readShape`): unknown kinds vanish, numbers are finite and bounded, colours match a pattern, images are
 * what their first bytes say.
 */
import { generateKeyBetween } from 'fractional-indexing'
import type { Box, Fill, ShapeKind } from './shape.ts'
import { FILLS, SHAPE_KINDS } from './shape.ts'

/** What is read; limits.ts has what is written, which is less. */
const MAX_COORDINATE = 1_200_000
const MAX_READ_SIZE = 120_000
const MAX_READ_POINTS = 24_000
const MAX_READ_TEXT = 20_000
export const MAX_IMAGE_BYTES = 512 * 1024
/** Stroke coordinates are stored as whole tenths, pressures as whole hundredths. */
export const POINT_SCALE = 10
export const PRESSURE_SCALE = 100

const PALETTE = ['ink', 'grey', 'red', 'orange', 'yellow', 'green', 'blue', 'violet'] as const
export type PaletteName = (typeof PALETTE)[number]
export const PALETTE_NAMES: readonly PaletteName[] = PALETTE

export const isFiniteNumber = (value: unknown, limit = MAX_COORDINATE): value is number =>
  typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= limit

export function checkedColor(value: unknown, fallback = 'ink'): string {
  if (typeof value !== 'string') return fallback
  if ((PALETTE as readonly string[]).includes(value) || /^#[0-9a-f]{6}$/i.test(value)) return value
  return fallback
}

export function checkedBox(value: unknown): Box | null {
  if (!Array.isArray(value) || value.length !== 5) return null
  const [x, y, w, h, angle] = value as unknown[]
  if (
    !isFiniteNumber(x) ||
    !isFiniteNumber(y) ||
    !isFiniteNumber(w, MAX_READ_SIZE) ||
    !isFiniteNumber(h, MAX_READ_SIZE)
  )
    return null
  return isFiniteNumber(angle, 1_000) ? [x, y, w, h, angle] : null
}

export const checkedKind = (value: unknown): ShapeKind | null =>
  (SHAPE_KINDS as readonly unknown[]).includes(value) ? (value as ShapeKind) : null

export const checkedFill = (value: unknown): Fill =>
  (FILLS as readonly unknown[]).includes(value) ? (value as Fill) : 'none'

export const checkedNumber = (value: unknown, low: number, high: number, fallback: number): number =>
  isFiniteNumber(value) ? Math.min(high, Math.max(low, value)) : fallback

export const checkedText = (value: unknown): string => (typeof value === 'string' ? value.slice(0, MAX_READ_TEXT) : '')

export const isId = (value: unknown): value is string => typeof value === 'string' && /^[\w-]{1,40}$/.test(value)

export function checkedOrder(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 200) return null
  try {
    generateKeyBetween(value, null)
    return value
  } catch {
    return null
  }
}

/** Batches as stored (whole tenths) to board units; stops at the first thing that is no point. */
export function checkedPoints(batches: Iterable<unknown>): number[] {
  const points: number[] = []
  for (const batch of batches) {
    if (!Array.isArray(batch)) break
    for (let i = 0; i + 2 < batch.length && points.length < MAX_READ_POINTS * 3; i += 3) {
      const [x, y, pressure] = [batch[i], batch[i + 1], batch[i + 2]] as unknown[]
      if (!isFiniteNumber(x) || !isFiniteNumber(y) || !isFiniteNumber(pressure)) return points
      points.push(x / POINT_SCALE, y / POINT_SCALE, Math.min(1, Math.max(0, pressure / PRESSURE_SCALE)))
    }
  }
  return points
}

const SIGNATURES: ReadonlyArray<{ type: string; at: number; bytes: readonly number[] }> = [
  { type: 'image/png', at: 0, bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: 'image/jpeg', at: 0, bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', at: 0, bytes: [0x47, 0x49, 0x46, 0x38] },
  { type: 'image/webp', at: 8, bytes: [0x57, 0x45, 0x42, 0x50] },
]

/** The raster type that the bytes themselves announce; SVG and everything else is null. */
export function imageType(bytes: Uint8Array): string | null {
  const match = SIGNATURES.find(({ at, bytes: magic }) => magic.every((byte, i) => bytes[at + i] === byte))
  return match?.type ?? null
}

export function checkedImage(value: unknown): Uint8Array<ArrayBuffer> | null {
  if (!(value instanceof Uint8Array) || value.length > MAX_IMAGE_BYTES || imageType(value) === null) return null
  return value as Uint8Array<ArrayBuffer>
}
