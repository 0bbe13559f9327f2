#!/usr/bin/env node
/** The command: `y-weir [serve]`, `boards`, `stall`, and what it says of itself. */
import { readFileSync } from 'node:fs'
import { readFlags, settingsHelp } from './settings/flags.ts'

const USAGE = `y-weir [serve] [--setting value …]   the server; every setting is a flag, and an environment variable
y-weir boards <command>              a look at the stored boards, and work on them while no server runs
y-weir stall <url> [options]         a slow reader: how much it reads, and what the server does
y-weir --help                        this, and every setting
y-weir --version
`

const [first, ...rest] = process.argv.slice(2)

switch (first) {
  case 'boards':
    // It reads its arguments itself: it is a command of its own as well.
    process.argv.splice(2, 1)
    await import('./boards.ts')
    break
  case 'stall': {
    const { stall } = await import('./stall.ts')
    process.exitCode = await stall(rest)
    break
  }
  case 'help':
  case '--help':
  case '-h':
    process.stdout.write(`${USAGE}\nSettings (default):\n${settingsHelp(process.stdout.columns)}\n`)
    break
  case 'version':
  case '--version': {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    process.stdout.write(`${version}\n`)
    break
  }
  default:
    await serve(first === 'serve' ? rest : process.argv.slice(2))
}

async function serve(args: readonly string[]): Promise<void> {
  try {
    Object.assign(process.env, readFlags(args))
  } catch (error) {
    process.stderr.write(`y-weir: ${(error as Error).message}\n\n${USAGE}`)
    process.exitCode = 64
    return
  }
  await import('./serve.ts')
}
