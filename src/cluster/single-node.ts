import type { Cluster } from './cluster.ts'

/** No other nodes: nothing is published, nothing arrives. */
export const singleNode: Cluster = {
  kind: 'single',
  join: () => () => {},
  publishUpdate: () => {},
  publishPresence: () => {},
  close: async () => {},
}
