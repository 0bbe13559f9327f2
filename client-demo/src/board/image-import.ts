import { isDecodable } from './image-header.ts'
import { imageType, MAX_IMAGE_BYTES } from './shape-validation.ts'

/** What a person may choose; anything above half a megabyte is made smaller before it goes onto the board. */
export const MAX_PICKED_IMAGE_BYTES = 10 * 1024 * 1024
const LONGEST_SIDES = [1_600, 1_200, 900, 640, 400]
const QUALITY = 0.82

export class ImageRefused extends Error {}

interface Imported {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly w: number
  readonly h: number
}

async function shrink(bitmap: ImageBitmap): Promise<Uint8Array<ArrayBuffer>> {
  for (const longest of LONGEST_SIDES) {
    const factor = Math.min(1, longest / Math.max(bitmap.width, bitmap.height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(bitmap.width * factor))
    canvas.height = Math.max(1, Math.round(bitmap.height * factor))
    canvas.getContext('2d')!.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/webp', QUALITY))
    if (blob && blob.size <= MAX_IMAGE_BYTES) return new Uint8Array(await blob.arrayBuffer())
  }
  throw new ImageRefused('This image cannot be made small enough for the board.')
}

/** Reads a chosen or pasted image; throws ImageRefused with a sentence for the person. */
export async function importImage(file: Blob): Promise<Imported> {
  if (file.size > MAX_PICKED_IMAGE_BYTES) {
    const size = (file.size / 1024 / 1024).toFixed(1)
    throw new ImageRefused(`This image has ${size} MB. The board takes images up to 10 MB.`)
  }
  const bytes = new Uint8Array(await file.arrayBuffer())
  const type = imageType(bytes)
  if (type === null) throw new ImageRefused('Only PNG, JPEG, WebP and GIF images can be put on the board.')
  if (!isDecodable(bytes)) throw new ImageRefused('This image has too many pixels, or is damaged.')
  const bitmap = await createImageBitmap(new Blob([bytes], { type })).catch(() => {
    throw new ImageRefused('This image is damaged.')
  })
  const stored = bytes.length <= MAX_IMAGE_BYTES ? bytes : await shrink(bitmap)
  return { bytes: stored, w: bitmap.width, h: bitmap.height }
}
