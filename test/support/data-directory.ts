import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'vitest'

/** A new `DATA_DIR`, removed when the test is over: ask for it before the server that uses it. */
export function dataDirectory(t: Pick<TestContext, 'onTestFinished'>): string {
  const path = mkdtempSync(join(tmpdir(), 'y-weir-data-'))
  t.onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}
