import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { boardAsJson } from '../../../src/room/board-json.ts'

test('content is told by what is in it, without naming a type', () => {
  const page = new Y.Doc()
  page.getMap('shapes').set('a', { x: 1 })
  page.getMap('shapes').set('gone', 1)
  page.getMap('shapes').delete('gone')
  page.getMap('shapes').set('nested', new Y.Map([['list', Y.Array.from([1, new Y.Text('t')])]]))
  page.getArray('order').push(['a', new Y.Map([['b', 2]])])
  page.getText('title').insert(0, 'hello ')
  page.getText('title').insert(6, 'world', { bold: true })
  page.getText('title').delete(0, 1)
  page.getXmlFragment('prose').push([new Y.XmlElement('p')])
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(page))
  const json = boardAsJson(doc)
  expect(json).toEqual({
    shapes: { a: { x: 1 }, nested: { list: [1, 't'] } },
    order: ['a', { b: 2 }],
    title: 'ello world',
    prose: ['<p></p>'],
  })
  // The live document is only read: its roots stay what they were.
  expect([...doc.share.values()].every((type) => type.constructor === Y.AbstractType)).toBe(true)
  expect(boardAsJson(new Y.Doc())).toEqual({})
})
