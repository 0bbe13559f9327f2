/** Close codes of the server in words for people. 4400–4499 are for good: the page stops trying. */
interface Refusal {
  readonly title: string
  readonly advice: string
  /** Trying again cannot help. */
  readonly final?: boolean
}

const REFUSALS: Record<number, Refusal> = {
  4400: { title: 'This board’s name cannot be used', advice: 'It is empty or too long. Start a new board instead.' },
  4401: {
    title: 'You have no access to this board',
    advice: 'Your invitation is missing or has expired. Ask for a new link.',
  },
  4403: {
    title: 'You may not open this board',
    advice: 'Your invitation is for another board, or this page is not allowed here.',
  },
  4409: {
    title: 'Somebody else writes under this page’s number',
    advice: 'Nothing drawn here arrives. Export the board, reload this page, and import it again.',
  },
  4410: {
    title: 'This board was deleted',
    advice: 'What you see is your copy. Nothing drawn here goes anywhere: save it as a new board, or export it.',
    final: true,
  },
  4413: {
    title: 'Your last change is too large',
    advice: 'The server does not take it. Undo it and try again, or continue with a copy on a new board.',
  },
  4422: {
    title: 'The server could not read this page’s messages',
    advice: 'Reload the page. If it happens again, tell whoever runs the server.',
  },
}

const BOARD_FULL: Refusal = {
  title: 'This board is full',
  advice: 'Your last changes are only here. Delete something, and they follow; or continue with a copy on a new board.',
}

/** Close code 4409 where the page itself can begin anew with all it has (twin.ts). */
const BEGINS_ANEW: Refusal = {
  title: 'This page begins anew',
  advice: 'Somebody else writes under its number. What you drew is kept and comes back in a moment.',
}

export function refusalWords(code: number, reason: string, comesBack: boolean): Refusal {
  if (code === 4409 && comesBack) return BEGINS_ANEW
  if (code === 4413 && /board/.test(reason)) return BOARD_FULL
  return (
    REFUSALS[code] ?? {
      title: 'The server refused this board',
      advice: `It gave the code ${code}. Ask whoever runs the server.`,
    }
  )
}
