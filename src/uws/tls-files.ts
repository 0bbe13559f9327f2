import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** PEM files: the certificate chain and its private key. */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

/** Reads both and makes sure that they fit. Throws, naming the file, when they cannot be used. `endsAt`: epoch ms. */
export function readTlsFiles({ certFile, keyFile }: TlsFiles): { readonly endsAt: number } {
  const certificate = parsed(certFile, (pem) => new X509Certificate(pem))
  const key = parsed(keyFile, (pem) => createPrivateKey(pem))
  if (!certificate.checkPrivateKey(key)) throw new Error(`${keyFile} is not the key of ${certFile}`)
  return { endsAt: Date.parse(certificate.validTo) }
}

function parsed<T>(file: string, parse: (pem: Buffer) => T): T {
  try {
    return parse(readFileSync(file))
  } catch (error) {
    throw new Error(`${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`)
  }
}
