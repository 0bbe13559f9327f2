import { h } from '../ui/dom.ts'

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  h('a', { attrs: { href: url, download: name } }).click()
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** Asks for one file; null when the dialog is closed without. */
export function pickFile(accept: string): Promise<File | null> {
  return new Promise((done) => {
    const input = h('input', {
      class: 'visually-hidden',
      attrs: { type: 'file', accept, tabindex: -1, 'aria-hidden': 'true' },
    })
    const finish = () => {
      input.remove()
      done(input.files?.[0] ?? null)
    }
    input.addEventListener('change', finish)
    input.addEventListener('cancel', finish)
    document.body.append(input)
    input.click()
  })
}
