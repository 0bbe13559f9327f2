/** What a setting is: its environment variable, default, range, and a sentence about what happens at the bound. */

export interface NumberSetting {
  readonly env: string
  readonly kind: 'number'
  readonly default: number
  readonly min: number
  readonly max: number
  readonly help: string
  /** 0 is allowed although it is below `min`: it turns the thing off. */
  readonly zero?: true
  /** How the docs say the default, where it depends on the machine. */
  readonly shown?: string
}
export interface TextSetting {
  readonly env: string
  readonly kind: 'text'
  readonly default: string
  readonly help: string
  /** The only values allowed. */
  readonly oneOf?: readonly string[]
}
export type Setting = NumberSetting | TextSetting

/** A whole number from `min` to `max`, both allowed; its unit stands in its name. */
export const number = (env: string, value: number, min: number, max: number, help: string): NumberSetting => ({
  env,
  kind: 'number',
  default: value,
  min,
  max,
  help,
})
/** The same, and 0 turns it off. */
export const orZero = (setting: NumberSetting): NumberSetting => ({ ...setting, zero: true })
/** The same, with a default that the machine decides. */
export const shownAs = (shown: string, setting: NumberSetting): NumberSetting => ({ ...setting, shown })
/** Any text; empty is as good as not set. */
export const text = (env: string, value: string, help: string): TextSetting => ({
  env,
  kind: 'text',
  default: value,
  help,
})
/** One of a few words. */
export const choice = <T extends string>(env: string, value: T, oneOf: readonly T[], help: string) =>
  ({ env, kind: 'text', default: value as T, oneOf, help }) as const

/** What is wrong with a value, to be read after the setting’s name; null when nothing is. */
export function mistakeIn(setting: Setting, value: string | number): string | null {
  if (setting.kind === 'text') {
    if (typeof value !== 'string') return `must be a text, not ${JSON.stringify(value)}`
    const { oneOf } = setting
    return oneOf === undefined || oneOf.includes(value)
      ? null
      : `must be one of ${oneOf.join(', ')}, not ${JSON.stringify(value)}`
  }
  if (typeof value !== 'number' || !Number.isInteger(value))
    return `must be a whole number, not ${JSON.stringify(value)}`
  if (setting.zero === true && value === 0) return null
  const from = setting.zero === true ? `0 or ${setting.min}` : String(setting.min)
  return value < setting.min || value > setting.max ? `must be ${from} to ${setting.max}, not ${value}` : null
}
