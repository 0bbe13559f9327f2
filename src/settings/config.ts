/**
 * The configuration: what the environment or a caller gives, defaults for the rest. The environment is read once, here; all
 * mistakes are reported together (OP4).
 *   environment ─readConfig─▶ given ─complete─▶ every setting in its range ─▶ no contradictions ─▶ Config
 */
import { contradictions } from './contradictions.ts'
import { mistakeIn, type Setting } from './setting.ts'
import { type Config, SETTINGS } from './settings.ts'

/** All mistakes of a configuration. `mistakes` has one sentence each, naming the setting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(readonly mistakes: readonly string[]) {
    super(mistakes.join('\n'))
  }
}

const settings = Object.entries(SETTINGS) as [keyof Config, Setting][]

/** The configuration that the environment describes. Throws `ConfigError`. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given: Record<string, string | number> = {}
  const mistakes: string[] = []
  for (const [name, setting] of settings) {
    const raw = env[setting.env]
    if (raw === undefined || raw === '') continue
    if (setting.kind === 'text') given[name] = raw
    else if (/^[+-]?\d+(\.\d+)?$/.test(raw.trim())) given[name] = Number(raw)
    else mistakes.push(`${setting.env} must be a number, not ${JSON.stringify(raw)}`)
  }
  return complete(given as Partial<Config>, mistakes)
}

/** A configuration of `given` and defaults. Throws `ConfigError`. */
export function complete(given: Partial<Config>, mistakes: string[] = []): Config {
  const config: Record<string, string | number> = {}
  for (const [name, setting] of settings) {
    const value = given[name] ?? setting.default
    const mistake = mistakeIn(setting, value)
    if (mistake !== null) mistakes.push(`${setting.env} ${mistake}`)
    config[name] = value
  }
  for (const name of Object.keys(given)) if (!(name in SETTINGS)) mistakes.push(`${name} is no setting`)
  const whole = config as unknown as Config
  mistakes.push(...contradictions(whole))
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return Object.freeze(whole)
}
