import type { Signal } from '../signal.ts'
import { signal } from '../signal.ts'

export interface Identity {
  readonly name: string
  readonly color: string
  /** False until the person has chosen a name; a suggestion is used meanwhile. */
  readonly chosen: boolean
}

export const PEOPLE_COLORS = [
  '#0b7079',
  '#b4451f',
  '#5b4bb5',
  '#2a7a3f',
  '#a63263',
  '#2563a8',
  '#8a5a00',
  '#7a3d9e',
] as const

export const MAX_NAME_LENGTH = 32
const KEY = 'y-weir:identity'
const ADJECTIVES = ['Quiet', 'Curious', 'Bright', 'Swift', 'Gentle', 'Merry', 'Patient', 'Bold']
const ANIMALS = ['Heron', 'Otter', 'Beaver', 'Kingfisher', 'Trout', 'Dragonfly', 'Wagtail', 'Salmon']

const any = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!

export const tidyName = (name: string): string => name.replace(/\s+/g, ' ').trim().slice(0, MAX_NAME_LENGTH)

function stored(): Identity | null {
  try {
    const { name, color } = JSON.parse(localStorage.getItem(KEY) ?? 'null') as { name?: unknown; color?: unknown }
    if (typeof name !== 'string' || tidyName(name) === '') return null
    const known = PEOPLE_COLORS.find((candidate) => candidate === color)
    return { name: tidyName(name), color: known ?? any(PEOPLE_COLORS), chosen: true }
  } catch {
    return null
  }
}

const ASKED_KEY = 'y-weir:asked'
let asked = false

/** True the first time ever: whoever does not want to be asked for a name keeps the suggested one. */
export function askOnce(): boolean {
  if (asked) return false
  asked = true
  try {
    if (localStorage.getItem(ASKED_KEY) !== null) return false
    localStorage.setItem(ASKED_KEY, '1')
  } catch {
    // Storage is switched off: once per visit.
  }
  return true
}

export function openIdentity(): Signal<Identity> {
  const identity = signal<Identity>(
    stored() ?? { name: `${any(ADJECTIVES)} ${any(ANIMALS)}`, color: any(PEOPLE_COLORS), chosen: false },
  )
  identity.watch(({ name, color, chosen }) => {
    if (!chosen) return
    try {
      localStorage.setItem(KEY, JSON.stringify({ name, color }))
    } catch {
      // Storage is switched off: the name holds for this visit.
    }
  })
  return identity
}
