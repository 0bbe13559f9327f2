import { checkedImage, imageType } from '../board/shape-validation.ts'
import { pictureOf } from '../canvas/images.ts'
import { tones } from '../canvas/palette.ts'
import { insideBox, type Kind, NO_CONTENT, svgNode } from './kind.ts'

function dataUrl(bytes: Uint8Array): string {
  let binary = ''
  for (let i = 0; i < bytes.length; i += 8_192) binary += String.fromCharCode(...bytes.subarray(i, i + 8_192))
  return `data:${imageType(bytes)};base64,${btoa(binary)}`
}

export const image: Kind = {
  label: 'Image',
  aspects: [],
  handles: 'frame',
  keepsRatio: true,
  onPaper: false,
  draw(ctx, shape, [x, y, w, h], theme) {
    const picture = pictureOf(shape.image!)
    if (typeof picture !== 'string') {
      ctx.drawImage(picture, x, y, w, h)
      return
    }
    ctx.fillStyle = tones('grey', theme).soft
    ctx.fillRect(x, y, w, h)
  },
  svg: (shape, [x, y, w, h]) =>
    svgNode('image', { x, y, width: w, height: h, href: dataUrl(shape.image!), preserveAspectRatio: 'none' }),
  hit: (_shape, box, point, near) => insideBox(box, point, near),
  reach: () => 5,
  read(field) {
    const bytes = checkedImage(field('image'))
    return bytes && { ...NO_CONTENT, image: bytes }
  },
}
