import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LogOutput } from '../../../src/observe/log-output.ts'
import { dataDirectory } from '../../support/data-directory.ts'

const line = (n: number): string => `{"n":${n},"text":"${'x'.repeat(200)}"}\n`

test('a pipe that nobody reads is never waited for: a megabyte waits, the rest is dropped, and what comes out is whole lines', async (t) => {
  const path = join(dataDirectory(t), 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY)
  const output = LogOutput.of(writer)
  const started = performance.now()
  for (let n = 0; n < 20_000; n++) output.write(line(n))
  expect(performance.now() - started).toBeLessThan(2_000)
  expect(output.dropped).toBeGreaterThan(5_000)
  let text = ''
  const chunk = Buffer.alloc(65_536)
  const read = (): void => {
    try {
      for (let length = 1; length > 0; ) {
        length = readSync(reader, chunk)
        text += chunk.toString('latin1', 0, length)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
  for (let round = 0; round < 200 && text.length < (20_000 - output.dropped) * line(0).length; round++) {
    read()
    await output.flushed(10)
  }
  const lines = text.trim().split('\n')
  const numbers = lines.map((each) => (JSON.parse(each) as { n: number }).n)
  expect(numbers.length + output.dropped).toBe(20_000)
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
  output.write(line(99_999))
  read()
  expect(text.endsWith(line(99_999))).toBe(true)
  output.end()
  closeSync(reader)
  closeSync(writer)
})

test('a reader that is gone, and a full disk, cost lines and nothing else', (t) => {
  const path = join(dataDirectory(t), 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY)
  const gone = LogOutput.of(writer)
  closeSync(reader)
  for (let n = 0; n < 10; n++) gone.write(line(n))
  expect(gone.dropped).toBe(10)
  gone.end()
  closeSync(writer)

  const full = openSync('/dev/full', 'w')
  const disk = LogOutput.of(full)
  for (let n = 0; n < 10; n++) disk.write(line(n))
  expect(disk.dropped).toBe(10)
  disk.end()
  closeSync(full)
})

test('a file gets every line', async (t) => {
  const path = join(dataDirectory(t), 'log')
  const file = openSync(path, 'a')
  const output = LogOutput.of(file)
  for (let n = 0; n < 100; n++) output.write(line(n))
  await output.flushed(100)
  output.end()
  closeSync(file)
  expect(readFileSync(path, 'utf8')).toBe(Array.from({ length: 100 }, (_, n) => line(n)).join(''))
  expect(output.dropped).toBe(0)
})
