/** Close codes of the server in words for people. 4400–4499 are for good: the page stops trying. */
const REFUSALS: Record<number, { title: string; advice: string }> = {
  4400: { title: 'This board’s name cannot be used', advice: 'It is empty or too long. Start a new board instead.' },
  4401: {
    title: 'You have no access to this board',
    advice: 'Your invitation is missing or has expired. Ask for a new link.',
  },
  4403: {
    title: 'You may not open this board',
    advice: 'Your invitation is for another board, or this page is not allowed here.',
  },
  4410: { title: 'This board was deleted', advice: 'Your copy stays on this device; you can still export it.' },
  4413: {
    title: 'This board or your last change is too large',
    advice: 'The server does not take more. Export your copy, or continue on a new board.',
  },
  4422: {
    title: 'The server could not read this page’s messages',
    advice: 'Reload the page. If it happens again, tell whoever runs the server.',
  },
}

export function refusalWords(code: number): { title: string; advice: string } {
  return (
    REFUSALS[code] ?? {
      title: 'The server refused this board',
      advice: `It gave the code ${code}. Ask whoever runs the server.`,
    }
  )
}
