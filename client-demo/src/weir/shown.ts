/** Guests of a real board should not find ways to make trouble: only by `?weir=1`, or where the server says so (`DEMO_PANEL`). */
export const weirIsShown = (): boolean =>
  new URLSearchParams(location.search).has('weir') ||
  document.querySelector<HTMLMetaElement>('meta[name="y-weir-panel"]')?.content === 'on'
