import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'vitest'

export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
}

/** A directory that is gone when the test is over, and how to make self-signed certificates in it. */
export function certificates(t: Pick<TestContext, 'onTestFinished'>): {
  readonly directory: string
  make(name: string, days: number): Certificate
} {
  const directory = mkdtempSync(join(tmpdir(), 'y-weir-tls-'))
  t.onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return {
    directory,
    make(name, days) {
      const made = { certFile: join(directory, `${name}.pem`), keyFile: join(directory, `${name}.key`) }
      const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
      const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', made.keyFile]
      execFileSync('openssl', ['req', '-x509', ...key, '-out', made.certFile, '-days', String(days), ...subject], {
        stdio: 'ignore',
      })
      return made
    },
  }
}
