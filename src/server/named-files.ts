/**
 * Files that settings name, and keys. They are looked at before anything is opened: what is wrong with them is a wrong setting,
 * and stops the start as one.
 */
import { type Authorizer, createAuthorizer } from '../access/authorizer.ts'
import { ConfigError } from '../settings/config.ts'
import type { Config } from '../settings/settings.ts'
import { readTlsFiles, type TlsFiles } from '../uws/tls-files.ts'
import type { Foundation } from './foundation.ts'

/** The certificate and its key, looked at; null without TLS. Throws `ConfigError`. */
export function tlsOf({ tlsCertFile: certFile, tlsKeyFile: keyFile }: Config): TlsFiles | null {
  if (certFile === '') return null
  try {
    readTlsFiles({ certFile, keyFile })
  } catch (error) {
    wrong(error)
  }
  return { certFile, keyFile }
}

/** Who may enter, by the keys that are set. Rejects with `ConfigError`. */
export function accessOf(config: Config, { clock, wallClock, log }: Foundation): Promise<Authorizer> {
  const keys = {
    jwtSecret: config.authJwtSecret || undefined,
    publicKeyFile: config.authPublicKeyFile || undefined,
    jwksUrl: config.authJwksUrl || undefined,
    readOnlyCursors: config.authReadOnlyCursors === 'on',
  }
  return createAuthorizer(keys, { clock, wallClock, log }).catch(wrong)
}

function wrong(error: unknown): never {
  throw new ConfigError([error instanceof Error ? error.message : String(error)])
}
