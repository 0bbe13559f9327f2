import type { Theme } from '../canvas/palette.ts'
import type { Signal } from '../signal.ts'
import { signal } from '../signal.ts'

const KEY = 'y-weir:theme'

export interface ThemeChoice {
  readonly theme: Signal<Theme>
  toggle(): void
}

/** Follows the system until the person has chosen. */
export function openTheme(): ThemeChoice {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const system = (): Theme => (dark.matches ? 'dark' : 'light')
  const stored = (): Theme | null => {
    try {
      const value = localStorage.getItem(KEY)
      return value === 'dark' || value === 'light' ? value : null
    } catch {
      return null
    }
  }
  const theme = signal<Theme>(stored() ?? system())
  theme.watch((value) => {
    document.documentElement.dataset.theme = value
  })
  dark.addEventListener('change', () => {
    if (stored() === null) theme.set(system())
  })
  return {
    theme,
    toggle() {
      const next = theme.value === 'dark' ? 'light' : 'dark'
      try {
        if (next === system()) localStorage.removeItem(KEY)
        else localStorage.setItem(KEY, next)
      } catch {
        // Storage is switched off: the choice holds for this visit.
      }
      theme.set(next)
    },
  }
}
