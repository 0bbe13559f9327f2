/** Exits with 0 when the server answers, as a container's health check. Reads PORT and TLS_CERT_FILE as the server does. */
import http from 'node:http'
import https from 'node:https'

const { PORT = '1234', TLS_CERT_FILE } = process.env
const options = {
  host: '127.0.0.1',
  port: PORT,
  path: '/healthz',
  timeout: 2000,
  rejectUnauthorized: false,
}
const request = (TLS_CERT_FILE ? https : http).get(options, ({ statusCode }) =>
  process.exit(statusCode === 200 ? 0 : 1),
)
request.on('timeout', () => process.exit(1))
request.on('error', () => process.exit(1))
