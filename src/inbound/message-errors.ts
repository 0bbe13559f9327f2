import { FRAME_ERRORS } from '../protocol/frames.ts'
import { PRESENCE_ERRORS } from '../protocol/presence-frame.ts'
import { MALFORMED_UPDATE } from '../update/update-check.ts'

/** Every reason for which a frame is refused: the label values of `ws_message_errors_total{reason}` (OP2). */
export const MESSAGE_ERRORS: readonly string[] = [
  ...new Set<string>([
    'text_frame',
    'message_too_large',
    'board_too_large',
    'apply_failed',
    'gap_overflow',
    'gap_repeated',
    'map_entry',
    'neighbours',
    'circle',
    'client_id_taken',
    ...FRAME_ERRORS,
    ...PRESENCE_ERRORS,
    ...MALFORMED_UPDATE,
  ]),
]
