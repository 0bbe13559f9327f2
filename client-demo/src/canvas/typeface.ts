import { forgetLayouts } from '../kinds/texts.ts'

/** Text is measured and painted with what is there; `onLoaded` whenever a part of the typeface (Latin, more Latin) has arrived. */
export function loadTypeface(onLoaded: () => void): void {
  document.fonts.addEventListener('loadingdone', () => {
    forgetLayouts()
    onLoaded()
  })
  // A canvas asks for no font by itself before it paints with it.
  void document.fonts.load('16px Figtree', 'Aa')
}
