/** A board's content as plain data, for people and for exports in another form. */
import * as Y from 'yjs'

type Type = Y.AbstractType<unknown>

/**
 * By root name. Which kind of type a root is, is known only to the pages that use it and travels in no update, so it is told
 * by its content: a list of text is a text, another list an array, and the rest maps.
 */
export function boardAsJson(doc: Y.Doc): Record<string, unknown> {
  return Object.fromEntries([...doc.share].map(([name, root]) => [name, contentOf(root as Type)]))
}

function contentOf(root: Type): unknown {
  const [first] = itemsOf(root)
  if (first === undefined) return Y.Map.prototype.toJSON.call(root)
  const isText = [Y.ContentString, Y.ContentFormat, Y.ContentEmbed].some((kind) => first.content instanceof kind)
  if (isText) return Y.Text.prototype.toString.call(root)
  return Y.Array.prototype.toArray
    .call(root)
    .map((entry: unknown) => (entry instanceof Y.AbstractType ? entry.toJSON() : entry))
}

/** What is in a type's list and not deleted. */
function* itemsOf(type: Type): Generator<Y.Item> {
  for (let item = type._start; item !== null; item = item.right) if (!item.deleted) yield item
}
