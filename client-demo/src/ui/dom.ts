type Props = {
  class?: string
  text?: string
  on?: Partial<{ [K in keyof HTMLElementEventMap]: (event: HTMLElementEventMap[K]) => void }>
  attrs?: Record<string, string | number | boolean | null | undefined>
}

/** An element; strings become text nodes, so nothing that anybody typed is ever parsed as HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: ReadonlyArray<Node | string | null>
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  if (props.class) element.className = props.class
  if (props.text !== undefined) element.textContent = props.text
  for (const [name, value] of Object.entries(props.attrs ?? {})) {
    if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value))
  }
  for (const [name, listener] of Object.entries(props.on ?? {})) {
    element.addEventListener(name, listener as EventListener)
  }
  for (const child of children) if (child !== null) element.append(child)
  return element
}

export const reducedMotion = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches
