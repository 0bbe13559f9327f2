import { imageType } from './shape-validation.ts'

/** More pixels than this are not decoded: half a megabyte of PNG can claim gigabytes of picture. */
export const MAX_PIXELS = 16_000_000

/** Width and height as the header of a PNG, GIF, JPEG or WebP announces them; null when it does not. */
function announcedSize(bytes: Uint8Array): [number, number] | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (imageType(bytes)) {
    case 'image/png':
      return [view.getUint32(16), view.getUint32(20)]
    case 'image/gif':
      return [view.getUint16(6, true), view.getUint16(8, true)]
    case 'image/webp':
      return webpSize(view)
    case 'image/jpeg':
      return jpegSize(view)
    default:
      return null
  }
}

function webpSize(view: DataView): [number, number] | null {
  const kind = String.fromCharCode(view.getUint8(12), view.getUint8(13), view.getUint8(14), view.getUint8(15))
  if (kind === 'VP8 ') return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff]
  if (kind === 'VP8L') {
    const bits = view.getUint32(21, true)
    return [(bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1]
  }
  if (kind !== 'VP8X') return null
  return [(view.getUint32(24, true) & 0xffffff) + 1, (view.getUint32(26, true) >>> 8) + 1]
}

function jpegSize(view: DataView): [number, number] | null {
  for (let at = 2; at + 9 < view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return [view.getUint16(at + 7), view.getUint16(at + 5)]
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2)
  }
  return null
}

/** How many pixels the picture says it has; 0 when it does not say, or cannot be one. */
export function announcedPixels(bytes: Uint8Array): number {
  try {
    const size = announcedSize(bytes)
    return size ? size[0] * size[1] : 0
  } catch {
    return 0
  }
}

export function isDecodable(bytes: Uint8Array): boolean {
  const pixels = announcedPixels(bytes)
  return pixels > 0 && pixels <= MAX_PIXELS
}
