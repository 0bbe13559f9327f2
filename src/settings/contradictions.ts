import { parseAllowedOrigins } from '../access/origin-check.ts'
import { frameAncestorMistakes } from '../http/page-policy.ts'
import type { Config } from './settings.ts'

/** What is wrong with settings that are in their range each: a sentence for every mistake. Repeats no secret. */
export function contradictions(config: Config): string[] {
  const mistakes: string[] = []
  if ((config.tlsCertFile === '') !== (config.tlsKeyFile === '')) {
    mistakes.push('TLS_CERT_FILE and TLS_KEY_FILE go together')
  }
  for (const mistake of frameAncestorMistakes(config.frameAncestors)) mistakes.push(`FRAME_ANCESTORS: ${mistake}`)
  if (
    config.publicUrl !== '' &&
    !/^https?:$/.test(URL.canParse(config.publicUrl) ? new URL(config.publicUrl).protocol : '')
  )
    mistakes.push('PUBLIC_URL: must be an address like https://board.example.org')
  for (const mistake of parseAllowedOrigins(config.allowedOrigins).mistakes)
    mistakes.push(`ALLOWED_ORIGINS: ${mistake}`)
  const keys = [config.authJwtSecret, config.authJwksUrl, config.authPublicKeyFile].filter((key) => key !== '')
  if (keys.length > 1) mistakes.push('AUTH_JWT_SECRET, AUTH_JWKS_URL and AUTH_PUBLIC_KEY_FILE exclude each other')
  if (config.storage === 'postgres') {
    const { protocol } = URL.canParse(config.databaseUrl) ? new URL(config.databaseUrl) : { protocol: '' }
    if (!/^postgres(ql)?:$/.test(protocol))
      mistakes.push('STORAGE=postgres needs DATABASE_URL, an address like postgres://user:password@host:5432/name')
  }
  if (config.redisUrl !== '') mistakes.push('REDIS_URL is set, but this version runs on a single node')
  return mistakes
}
