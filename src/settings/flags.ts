/** Settings on the command line: each is a flag of the same name, `--port 80` for `PORT=80`. */
import { parseArgs } from 'node:util'
import type { Setting } from './setting.ts'
import { SETTINGS } from './settings.ts'

const settings: readonly Setting[] = Object.values(SETTINGS)

/** `WS_IDLE_TIMEOUT_S` → `ws-idle-timeout-s` */
const flagOf = ({ env }: Setting): string => env.toLowerCase().replaceAll('_', '-')

/** What arguments say, as environment variables. Throws a TypeError that names an argument which is none of them. */
export function readFlags(args: readonly string[]): Record<string, string> {
  const options = Object.fromEntries(settings.map((setting) => [flagOf(setting), { type: 'string' as const }]))
  const { values } = parseArgs({ args: [...args], options, strict: true, allowPositionals: false })
  const env: Record<string, string> = {}
  for (const setting of settings) {
    const value = values[flagOf(setting)]
    if (typeof value === 'string') env[setting.env] = value
  }
  return env
}

/** Every setting with its default and what it does, a few lines each. */
export function settingsHelp(columns = 100): string {
  return settings
    .map((setting) => {
      const shown = setting.kind === 'number' && setting.shown !== undefined ? setting.shown : String(setting.default)
      const head = `  --${flagOf(setting)}${shown === '' ? '' : ` (${shown})`}`
      return [head, ...wrapped(setting.help.replaceAll('`', ''), columns - 6).map((line) => `      ${line}`)].join('\n')
    })
    .join('\n')
}

function wrapped(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
