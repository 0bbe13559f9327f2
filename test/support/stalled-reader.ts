import type { TestContext } from 'vitest'
import { type RawClient, rawMember } from './raw-client.ts'
import type { StockClient } from './stock-client.ts'
import { until } from './until.ts'

/**
 * A reader of the room `board` that has stopped reading, while `author` adds `count` texts of `length` to its array `items`. There
 * when the server holds some of it.
 */
export async function stalledReader(
  t: Pick<TestContext, 'onTestFinished'>,
  server: { readonly port: number; metric(sample: string): Promise<number> },
  author: StockClient,
  count: number,
  length: number,
): Promise<RawClient> {
  const reader = await rawMember(t, server.port, 'board', { record: false })
  reader.pause()
  for (let i = 0; i < count; i++) author.doc.getArray('items').push(['x'.repeat(length)])
  await until(async () => (await server.metric('ws_oldest_unsent_seconds')) > 0, 'there is a backlog')
  return reader
}
