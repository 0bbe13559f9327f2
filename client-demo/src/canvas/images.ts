import { isDecodable } from '../board/image-header.ts'
import { imageType } from '../board/shape-validation.ts'
import { Event } from '../signal.ts'

type Picture = 'loading' | 'broken' | ImageBitmap

/** Decoded once per stored image; a change of position keeps the same bytes and so the same picture. */
const pictures = new WeakMap<Uint8Array, Picture>()

/** The bytes whose picture has arrived. */
export const pictureReady = new Event<Uint8Array>()

export function pictureOf(bytes: Uint8Array<ArrayBuffer>): Picture {
  const known = pictures.get(bytes)
  if (known) return known
  const type = imageType(bytes)
  if (type === null || !isDecodable(bytes)) {
    pictures.set(bytes, 'broken')
    return 'broken'
  }
  pictures.set(bytes, 'loading')
  createImageBitmap(new Blob([bytes], { type })).then(
    (bitmap) => settle(bytes, bitmap),
    () => settle(bytes, 'broken'),
  )
  return 'loading'
}

function settle(bytes: Uint8Array, picture: Picture): void {
  pictures.set(bytes, picture)
  pictureReady.emit(bytes)
}
