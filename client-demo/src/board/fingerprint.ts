import * as Y from 'yjs'

/** A short word that is the same wherever the board is the same: people can compare it across windows at a glance. */
export function fingerprint(root: Y.Map<unknown>): string {
  const lines: string[] = []
  for (const [id, stored] of root.entries()) {
    if (!(stored instanceof Y.Map)) continue
    const [points, text] = [stored.get('points'), stored.get('text')]
    const drawn = points instanceof Y.Array ? points.length : text instanceof Y.Text ? text.toString() : ''
    lines.push(`${id} ${stored.get('order')} ${stored.get('color')} ${JSON.stringify(stored.get('box'))} ${drawn}`)
  }
  let hash = 0x811c9dc5
  for (const char of lines.sort().join('\n')) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
