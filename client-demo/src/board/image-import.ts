import { announcedPixels, MAX_PIXELS } from './image-header.ts'
import { imageType, MAX_IMAGE_BYTES } from './shape-validation.ts'

/** What a person may choose: the largest photos of today's cameras. Above half a megabyte they are made smaller for the board. */
const MAX_PICKED_BYTES = 40 * 1024 * 1024
const MAX_PICKED_PIXELS = 120_000_000
/** Larger ones are decoded at this width: no more of them could be kept anyway. */
const DECODED_WIDTH = 2_400
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
  if (file.size > MAX_PICKED_BYTES) {
    const size = (file.size / 1024 / 1024).toFixed(0)
    throw new ImageRefused(`This image has ${size} MB. The board takes images up to 40 MB.`)
  }
  const bytes = new Uint8Array(await file.arrayBuffer())
  const type = imageType(bytes)
  if (type === null) throw new ImageRefused('Only PNG, JPEG, WebP and GIF images can be put on the board.')
  const pixels = announcedPixels(bytes)
  if (pixels === 0 || pixels > MAX_PICKED_PIXELS) {
    throw new ImageRefused('This image has more than 120 million pixels, or is damaged.')
  }
  const large = pixels > MAX_PIXELS
  const options: ImageBitmapOptions = large ? { resizeWidth: DECODED_WIDTH, resizeQuality: 'high' } : {}
  const bitmap = await createImageBitmap(new Blob([bytes], { type }), options).catch(() => {
    throw new ImageRefused('This image is damaged.')
  })
  const stored = bytes.length <= MAX_IMAGE_BYTES && !large ? bytes : await shrink(bitmap)
  return { bytes: stored, w: bitmap.width, h: bitmap.height }
}
