const SVG = 'http://www.w3.org/2000/svg'

/** Outlines on a 24 × 24 grid, drawn with a round 1.75 stroke. */
const PATHS = {
  select: 'M5 3.5l13.5 7-6 1.8-2.3 6z',
  hand: 'M8 12V6a1.5 1.5 0 013 0v5m0-6.5a1.5 1.5 0 013 0V11m0-5a1.5 1.5 0 013 0v8a6.5 6.5 0 01-6.5 6.5c-3 0-4.3-1.4-5.8-4L4 14.2c-.9-1.7 1.2-3 2.4-1.6L8 14.5',
  pen: 'M4 20c1-4 1.5-5 3-6.5L16.5 4a2 2 0 013 3L10 16.5C8.5 18 8 19 4 20zM14.5 6l3 3',
  rect: 'M6 5h12a2 2 0 012 2v10a2 2 0 01-2 2H6a2 2 0 01-2-2V7a2 2 0 012-2z',
  ellipse: 'M12 4.5c4.7 0 8.5 3.4 8.5 7.5s-3.8 7.5-8.5 7.5S3.5 16.1 3.5 12 7.3 4.5 12 4.5z',
  line: 'M5 19L19 5',
  arrow: 'M5 19L19 5M10 5h9v9',
  text: 'M5 7V5h14v2M12 5v14M9 19h6',
  note: 'M5 4h14a1 1 0 011 1v9l-6 6H5a1 1 0 01-1-1V5a1 1 0 011-1zM20 14h-5a1 1 0 00-1 1v5',
  image:
    'M5 5h14a1.5 1.5 0 011.5 1.5v11A1.5 1.5 0 0119 19H5a1.5 1.5 0 01-1.5-1.5v-11A1.5 1.5 0 015 5zM4 16l4.5-4.5 4 4 2.5-2.5 5 5M15.5 9h.01',
  eraser:
    'M9.5 19.5l-5-5a1.5 1.5 0 010-2.1l7.9-7.9a1.5 1.5 0 012.1 0l5 5a1.5 1.5 0 010 2.1l-7.9 7.9zM8 9l7 7M9.5 19.5H20',
  undo: 'M8 5L4 9l4 4M4 9h10a5.5 5.5 0 010 11h-3',
  redo: 'M16 5l4 4-4 4M20 9H10a5.5 5.5 0 000 11h3',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  fit: 'M4 9V5a1 1 0 011-1h4M15 4h4a1 1 0 011 1v4M20 15v4a1 1 0 01-1 1h-4M9 20H5a1 1 0 01-1-1v-4',
  menu: 'M5 7h14M5 12h14M5 17h14',
  close: 'M6 6l12 12M18 6L6 18',
  link: 'M10 14a4 4 0 005.7 0l3-3A4 4 0 0013 5.3l-1 1M14 10a4 4 0 00-5.7 0l-3 3A4 4 0 0011 18.7l1-1',
  duplicate: 'M9 8h9a2 2 0 012 2v9a2 2 0 01-2 2H9a2 2 0 01-2-2v-9a2 2 0 012-2zM4 15V5a2 2 0 012-2h9',
  trash: 'M4 7h16M9 7V4.5h6V7M6.5 7l.8 12.5h9.4L17.5 7M10 11v5M14 11v5',
  front: 'M8 8h12v12H8zM4 15V4h11M14 17v-6M11.5 13.5L14 11l2.5 2.5',
  back: 'M4 4h12v12H4zM20 9v11H9M10 7v6M7.5 10.5L10 13l2.5-2.5',
  weir: 'M3 7c2.5-2 5.5-2 8 0M3 12h9c4 0 3 6 6 6h3M3 17h6M13 7c1-.8 2-1.2 3-1.3',
  smile: 'M12 3.5a8.5 8.5 0 110 17 8.5 8.5 0 010-17zM8.5 14c1.8 2.3 5.2 2.3 7 0M9 9.5h.01M15 9.5h.01',
  help: 'M12 3.5a8.5 8.5 0 110 17 8.5 8.5 0 010-17zM9.5 9.5a2.5 2.5 0 113.6 2.3c-.8.4-1.1 1-1.1 1.7M12 16.5h.01',
  theme: 'M12 4a8 8 0 108 8 6 6 0 01-8-8z',
  download: 'M12 4v11M7.5 11L12 15.5 16.5 11M5 19.5h14',
  upload: 'M12 16V5M7.5 9L12 4.5 16.5 9M5 19.5h14',
  list: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
  grid: 'M5 5h.01M12 5h.01M19 5h.01M5 12h.01M12 12h.01M19 12h.01M5 19h.01M12 19h.01M19 19h.01',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9a3 3 0 110 6 3 3 0 010-6z',
  offline: 'M4 4l16 16M8 8a5 5 0 00-1 9.5h9.5M10.5 6.3A5.5 5.5 0 0117 11a3.5 3.5 0 012.6 5.5',
  lock: 'M7 10.5h10a1.5 1.5 0 011.5 1.5v7a1.5 1.5 0 01-1.5 1.5H7A1.5 1.5 0 015.5 19v-7A1.5 1.5 0 017 10.5zM8.5 10.5V8a3.5 3.5 0 017 0v2.5',
  warning: 'M12 4l9 16H3zM12 10v4.5M12 17.2h.01',
  wait: 'M12 3.5a8.5 8.5 0 110 17 8.5 8.5 0 010-17zM12 7.5V12l3 2',
  freeze: 'M12 3v18M4.2 7.5l15.6 9M19.8 7.5l-15.6 9M9.5 4.5L12 7l2.5-2.5M9.5 19.5L12 17l2.5 2.5',
  flood: 'M3 8c3-2.5 6-2.5 9 0s6 2.5 9 0M3 13c3-2.5 6-2.5 9 0s6 2.5 9 0M3 18c3-2.5 6-2.5 9 0s6 2.5 9 0',
  bot: 'M7 8h10a2 2 0 012 2v7a2 2 0 01-2 2H7a2 2 0 01-2-2v-7a2 2 0 012-2zM12 8V4.5M9.5 13h.01M14.5 13h.01M2.5 12v3M21.5 12v3',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  copy: 'M9 4h6v3H9zM9 5.5H6.5A1.5 1.5 0 005 7v12.5A1.5 1.5 0 006.5 21h11a1.5 1.5 0 001.5-1.5V7a1.5 1.5 0 00-1.5-1.5H15',
} as const

export type IconName = keyof typeof PATHS

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('class', 'icon')
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', PATHS[name])
  svg.append(path)
  return svg
}
