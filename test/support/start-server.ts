import pino, { type Logger } from 'pino'
import type { TestContext } from 'vitest'
import { type Config, createServer, type ServerOptions } from '../../src/server.ts'

export interface TestServer {
  readonly port: number
  /** `ws://127.0.0.1:port` */
  readonly url: string
  /** `http://127.0.0.1:port` */
  readonly httpUrl: string
  close(): Promise<void>
  /** One sample of the metrics page, by its name and labels as they stand there; 0 when it is not there. */
  metric(sample: string): Promise<number>
}

/** A real server on a free port, closed when the test is over. Memory storage and a quiet log unless told otherwise. */
export async function startServer(
  t: Pick<TestContext, 'onTestFinished'>,
  config: Partial<Config> = {},
  log: Logger = pino({ level: process.env.TEST_LOG ?? 'silent' }),
  options: Pick<ServerOptions, 'openStorage'> = {},
): Promise<TestServer> {
  const server = createServer({ port: 0, storage: 'memory', shutdownGraceMs: 2000, ...config }, { log, ...options })
  const { port } = await server.listen()
  t.onTestFinished(() => server.close())
  const httpUrl = `http://127.0.0.1:${port}`
  return {
    port,
    url: `ws://127.0.0.1:${port}`,
    httpUrl,
    close: () => server.close(),
    metric: (sample) => metricOf(httpUrl, sample),
  }
}

/** One sample of a server's metrics page; 0 when it is not there. */
export async function metricOf(httpUrl: string, sample: string): Promise<number> {
  const response = await fetch(`${httpUrl}/metrics`)
  for (const line of (await response.text()).split('\n')) {
    if (line.startsWith(`${sample} `)) return Number(line.slice(sample.length + 1))
  }
  return 0
}
