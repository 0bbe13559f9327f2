/**
 * Every way a client is shown the door: one entry is the close frame, the log field, the metric label and the row in
 * docs/protocol.md. A stock client (y-websocket 3.1) stops for good on 4400-4499 and retries on everything else, so the
 * permanent refusals live in that range and everything temporary outside it.
 */
export interface CloseReason {
  /** The WebSocket close code. */
  readonly code: number
  /** The close frame's reason text: at most 123 bytes of UTF-8. */
  readonly text: string
  /** Whether coming back can help. */
  readonly retry: boolean
}

export const CLOSE = {
  badRoomName: { code: 4400, text: 'bad room name', retry: false },
  noAccess: { code: 4401, text: 'no or expired access', retry: false },
  notAllowed: { code: 4403, text: 'not allowed', retry: false },
  clientIdTaken: { code: 4409, text: 'client id taken', retry: false },
  boardDeleted: { code: 4410, text: 'board deleted', retry: false },
  messageTooLarge: { code: 4413, text: 'message too large', retry: false },
  boardTooLarge: { code: 4413, text: 'board too large', retry: false },
  malformedInput: { code: 4422, text: 'malformed input', retry: false },
  loadFailed: { code: 1011, text: 'room could not be loaded', retry: true },
  roomBroke: { code: 1011, text: 'room broke', retry: true },
  internalError: { code: 1011, text: 'internal error', retry: true },
  restart: { code: 1012, text: 'server restart', retry: true },
  bufferLimit: { code: 1013, text: 'buffer limit exceeded', retry: true },
  congestedTooLong: { code: 1013, text: 'congested too long', retry: true },
  tooManyFrames: { code: 1013, text: 'too many frames', retry: true },
  tooManyConnections: { code: 1013, text: 'too many connections', retry: true },
  tooManyRooms: { code: 1013, text: 'too many rooms', retry: true },
  cannotCheckAccess: { code: 1013, text: 'access cannot be checked now', retry: true },
  memoryShort: { code: 1013, text: 'memory is short', retry: true },
  tooMuchWork: { code: 1013, text: 'too much work', retry: true },
  placeNeeded: { code: 1013, text: 'place for a long message is needed', retry: true },
  serverFull: { code: 1013, text: 'server full', retry: true },
} as const satisfies Record<string, CloseReason>
