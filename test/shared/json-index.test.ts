import { describe, expect, test } from 'bun:test'
import { JsonError, readJson, readJsonInTurns, toJson } from '../../plugins/shared/json/json.ts'
import { indexed, JsonIndexer } from '../../plugins/shared/json/value-index.ts'

describe('the number of values is limited', () => {
  const limits = { maxValues: 10 }
  const refused = 'of more than 10 values'

  test('members, elements and their containers count', () => {
    expect(readJson(`[${'1,'.repeat(8)}1]`, limits).elements()).toHaveLength(9)
    for (const text of [
      `[${'1,'.repeat(9)}1]`,
      `{${'"a":1,'.repeat(9)}"a":1}`,
      `[${'[],'.repeat(9)}[]]`,
      `[${'{},'.repeat(9)}""]`,
      `[${'"",'.repeat(9)}""]`,
      `[${'null,'.repeat(9)}true]`,
      '[{"a":[1,2,{"b":[3,4,{"c":[5,6]}]}]}]',
    ]) {
      expect(() => readJson(text, limits)).toThrow(refused)
    }
  })

  test('to 100,000 by default; the rest is not read, valid or not', () => {
    expect(readJson(`[${'1,'.repeat(99_998)}1]`).elements()).toHaveLength(99_999)
    expect(() => readJson(`[${'1,'.repeat(99_999)}1]`)).toThrow('of more than 100000 values')
    const before = indexed.bytes
    expect(() => readJson(`[${'1,'.repeat(10)} this is no JSON ${'x'.repeat(1e6)}`, limits)).toThrow(refused)
    expect(indexed.bytes - before).toBeLessThan(100)
  })

  test('keys and numbers are limited by their bytes, strings are not', () => {
    const limits = { maxKeyBytes: 100 }
    expect(readJson(`{"${'k'.repeat(98)}":"${'x'.repeat(1000)}"}`, limits).isObject).toBeTrue()
    for (const text of [
      `{"${'k'.repeat(99)}":1}`,
      `{"${'\\u0061'.repeat(17)}":1}`,
      `[${'1'.repeat(101)}]`,
      `[1e${'1'.repeat(99)}]`,
      `[${'12345,'.repeat(20)}1]`,
      `{${'"abc":12345,'.repeat(10)}"a":1}`,
    ]) {
      expect(() => readJson(text, limits)).toThrow('of more than 100 bytes of keys and numbers')
    }
    expect(() => readJson(`[${'1'.repeat(2 ** 22 + 1)}]`)).toThrow('of more than 4194304 bytes of keys and numbers')
  })
})

describe('a document is parsed once', () => {
  const text = `{"a":[${`{"b":{"c":["${'x'.repeat(50)}",{"d":1}]}},`.repeat(1000)}1],"f":{"ProjectName":1}}`
  const counted = (work: () => unknown): number => {
    const before = indexed.bytes
    work()
    return indexed.bytes - before
  }

  test('for any number of lookups', () => {
    let json = toJson(null)
    expect(counted(() => (json = readJson(text)))).toBe(text.length)
    const look = () => {
      for (const object of json.objects()) for (const { value } of object.members()) [value.raw, ...value.elements()]
      return json.get('a')?.elements().at(-2)?.get('b')?.get('c')?.elements().at(-1)?.get('d')?.value()
    }
    expect(counted(() => expect(look()).toBe(1))).toBe(0)
  })

  test('for any number of edits at several levels: the result is parsed on its first lookup', () => {
    const json = readJson(text)
    let edited = json
    const edits = () => {
      for (let nth = 0; nth < 20; nth++) edited = edited.with(`n${nth}`, toJson(nth)).without((key) => key === 'n3')
      const inner = edited.get('f')?.without((key) => key === 'ProjectName')
      edited = inner ? edited.with('f', inner) : edited
      expect([edited.get('n19')?.value(), edited.get('n3'), edited.get('f')?.raw]).toEqual([19, undefined, '{}'])
    }
    expect(counted(edits)).toBeLessThan(200)
    expect(counted(() => edited.bytes)).toBe(0)
    expect(counted(() => [...edited.members(), ...edited.members()])).toBe(edited.bytes.length)
    expect(JSON.parse(edited.raw)).toEqual({
      ...JSON.parse(text),
      f: {},
      ...Object.fromEntries([...Array(20).keys()].filter((n) => n !== 3).map((n) => [`n${n}`, n])),
    })
  })

  test('in several turns of the event loop, split at any byte', async () => {
    const parts = ['"é\\\\\\"\\u00e9"', '-12.5e+3', 'true', '{"\\u0061":[ ]}', '" \\n"', `"${'y'.repeat(70)}"`]
    const long = new TextEncoder().encode(` [${Array.from({ length: 300 }, (_, n) => parts[n % 6]).join(' , ')}] `)
    const whole = new JsonIndexer(long).finish()
    for (const most of [1, 2, 3, 5, 7, 64, 1000]) {
      const indexing = new JsonIndexer(long)
      let turns = 1
      while (!indexing.read(most)) turns++
      expect(turns).toBeGreaterThan(long.length / (most + 80))
      expect(indexing.finish()).toEqual(whole)
    }
    for (let length = 0; length < long.length - 1; length += 7) {
      const indexing = new JsonIndexer(long.subarray(0, length))
      expect(() => {
        while (!indexing.read(3));
      }).toThrow(JsonError)
    }
    expect((await readJsonInTurns(long)).raw).toBe(new TextDecoder().decode(long).trim())
  })
})
