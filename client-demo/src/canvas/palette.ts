import type { PaletteName } from '../board/shape-validation.ts'

export type Theme = 'light' | 'dark'

/** A board colour is a name, so that black ink stays readable when another person's board is dark. */
interface Tones {
  readonly stroke: string
  readonly soft: string
  readonly note: string
}

const LIGHT: Record<PaletteName, Tones> = {
  ink: { stroke: '#232936', soft: '#e4e5e9', note: '#ececee' },
  grey: { stroke: '#737b89', soft: '#e9ebee', note: '#e2e5ea' },
  red: { stroke: '#d1403f', soft: '#fadfdc', note: '#fbcfc9' },
  orange: { stroke: '#c96a12', soft: '#fce6d0', note: '#fddcb5' },
  yellow: { stroke: '#b38600', soft: '#fbf0c4', note: '#fdeb9b' },
  green: { stroke: '#2f8f57', soft: '#d9efdf', note: '#c6ebcf' },
  blue: { stroke: '#2b6fce', soft: '#dae8fb', note: '#c9dffb' },
  violet: { stroke: '#7d4fc4', soft: '#e9dff8', note: '#dfd0f6' },
}

const DARK: Record<PaletteName, Tones> = {
  ink: { stroke: '#e9ebef', soft: '#33383f', note: '#3a4048' },
  grey: { stroke: '#98a1af', soft: '#2c3138', note: '#363d47' },
  red: { stroke: '#f0716c', soft: '#43282a', note: '#5a3033' },
  orange: { stroke: '#f09a4a', soft: '#432f1f', note: '#5a3f26' },
  yellow: { stroke: '#e6c34a', soft: '#3e371d', note: '#554a22' },
  green: { stroke: '#62c088', soft: '#20382a', note: '#274b36' },
  blue: { stroke: '#6ea6f2', soft: '#22344d', note: '#2a4468' },
  violet: { stroke: '#b18cf0', soft: '#342a49', note: '#443563' },
}

export const SURFACE: Record<Theme, { board: string; dot: string; text: string; accent: string }> = {
  light: { board: '#f8f7f4', dot: '#dbd8d0', text: '#232936', accent: '#0b7079' },
  dark: { board: '#16191d', dot: '#2c3238', text: '#eef0f3', accent: '#5cc8d1' },
}

export function tones(color: string, theme: Theme): Tones {
  const known = (theme === 'light' ? LIGHT : DARK)[color as PaletteName]
  return known ?? { stroke: color, soft: `${color}33`, note: theme === 'light' ? `${color}66` : `${color}55` }
}
