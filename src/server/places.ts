/** The places that connections take: sockets, descriptors, and the room for long messages. */
import { readDescriptors } from '../budget/descriptor-limit.ts'
import { Lingering } from '../budget/lingering.ts'
import { MessageRoom } from '../budget/message-room.ts'
import { Absent } from '../inbound/absent.ts'
import { type ConnectionLimits, createConnectionLimits } from '../inbound/connection-limits.ts'
import type { Config } from '../settings/settings.ts'
import type { Foundation } from './foundation.ts'

export interface Places {
  readonly limits: ConnectionLimits
  readonly lingering: Lingering
  readonly absent: Absent
  readonly messages: MessageRoom
  readonly descriptors: ReturnType<typeof readDescriptors>
}

/** What uWS takes beyond our own limit, so that a too long message can be answered with a close code (IN7). */
const OVERSIZE_MARGIN = 65_536

/** `openSockets`: TCP connections there are, as far as is known. Descriptors are counted now: the store is open, the port is not. */
export function layOutPlaces(config: Config, { clock, metrics }: Foundation, openSockets: () => number): Places {
  const { maxConnections, maxConnectionsPerIp, maxMessageBytes, maxMemoryBytes } = config
  const descriptors = readDescriptors()
  const lingering = new Lingering(clock)
  const absent = new Absent()
  return {
    descriptors,
    lingering,
    absent,
    limits: createConnectionLimits({
      maxConnections,
      maxConnectionsPerIp,
      descriptors,
      lingering,
      absent,
      openSockets,
    }),
    messages: new MessageRoom(
      { longBytes: maxMessageBytes + OVERSIZE_MARGIN, maxMemoryBytes, maxConnectionsPerIp },
      clock,
      metrics.longMessagesCut,
    ),
  }
}
