import { h } from '../ui/dom.ts'

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  h('a', { attrs: { href: url, download: name } }).click()
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** Asks for one file; null when the dialog is closed without. */
export const pickFile = async (accept: string): Promise<File | null> => (await pick(accept, false))[0] ?? null

/** Asks for any number of files. */
export const pickFiles = (accept: string): Promise<File[]> => pick(accept, true)

function pick(accept: string, multiple: boolean): Promise<File[]> {
  return new Promise((done) => {
    const input = h('input', {
      class: 'visually-hidden',
      attrs: { type: 'file', accept, multiple, tabindex: -1, 'aria-hidden': 'true' },
    })
    const finish = () => {
      input.remove()
      done([...(input.files ?? [])])
    }
    input.addEventListener('change', finish)
    input.addEventListener('cancel', finish)
    document.body.append(input)
    input.click()
  })
}
