import { Buffer } from 'node:buffer'
import { runInTurns, type SteppedWork } from '../background/turns.ts'
import { JsonDocument, noLimits } from './document.ts'
import { parseLossless } from './lossless.ts'
import { brace, bracket } from './tokens.ts'
import { JsonIndexer, type JsonLimits, stride } from './value-index.ts'

/**
 * `parseLossless` over several turns of the event loop. A turn takes a few milliseconds: to create an object of 90,000
 * keys at once takes V8 40 ms.
 *
 * Throws JsonError for a text that is not JSON, and above a limit. A long string takes one turn, and so does what is
 * nested deeper than 100 levels.
 *
 * @param limits Default: none
 */
export const parseJsonInTurns = (text: string, limits: JsonLimits = noLimits): Promise<unknown> =>
  runInTurns(parse(text, limits))

function* parse(text: string, limits: JsonLimits): SteppedWork<unknown> {
  const bytes = Buffer.from(text)
  const indexer = new JsonIndexer(bytes, limits)
  while (!indexer.read(maxBytesPerStep, maxEntriesPerStep)) yield
  yield
  return yield* parseValue(new JsonDocument(bytes, indexer.finish(), text), 0, maxLevels)
}

/** A value with few keys and values in it is parsed at once; of any other one, some members or elements. */
function* parseValue(document: JsonDocument, entry: number, levels: number): SteppedWork<unknown> {
  const after = document.entryAfter(entry)
  const first = document.first(entry)
  if (levels === 0 || fitsStep(document, entry, after) || (first !== brace && first !== bracket))
    return parseLossless(document.text(document.start(entry), document.end(entry)))
  const result = first === brace ? new ObjectBuilder() : new ArrayBuilder()
  const valueAt = first === brace ? stride : 0
  /** The first member or element that is not in the result yet, and the end of those after it. */
  let from = entry + stride
  let end = 0
  for (let at = from; at < after; ) {
    const value = at + valueAt
    const next = document.entryAfter(value)
    if (!fitsStep(document, from, next)) {
      if (from < at) {
        result.add(document.text(document.start(from), end))
        yield
      }
      from = at
      if (!fitsStep(document, at, next)) {
        const key = first === brace ? document.string(at) : ''
        result.set(key, yield* parseValue(document, value, levels - 1))
        yield
        from = next
      }
    }
    end = document.end(value)
    at = next
  }
  if (from < after) result.add(document.text(document.start(from), end))
  return result.value
}

/** Whether the keys and values from one entry up to another can be parsed in one step. */
const fitsStep = (document: JsonDocument, from: number, to: number): boolean =>
  to - from <= stride * maxEntriesPerStep && document.end(to - stride) - document.start(from) <= maxBytesPerStep

class ObjectBuilder {
  readonly value: Record<string, unknown> = {}

  /** @param members text of some members, without the braces */
  add(members: string): void {
    const part = parseLossless(`{${members}}`) as Record<string, unknown>
    for (const key of Object.keys(part)) this.set(key, part[key])
  }

  set(key: string, value: unknown): void {
    if (key !== '__proto__') this.value[key] = value
    // An assignment would set the prototype.
    else Object.defineProperty(this.value, key, { value, configurable: true, enumerable: true, writable: true })
  }
}

class ArrayBuilder {
  readonly value: unknown[] = []

  /** @param elements text of some elements, without the brackets */
  add(elements: string): void {
    for (const element of parseLossless(`[${elements}]`) as unknown[]) this.value.push(element)
  }

  set(_key: string, value: unknown): void {
    this.value.push(value)
  }
}

/** Each takes some milliseconds. */
const maxEntriesPerStep = 2 ** 14
const maxBytesPerStep = 2 ** 18

const maxLevels = 100
