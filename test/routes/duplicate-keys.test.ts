import { expect, test } from 'bun:test'
import { foldKey, ownershipMembersOf } from '../../plugins/asset-library/schema/duplicate-keys.ts'
import { readJson } from '../../plugins/shared/json/json.ts'

const deciding = ['groupid', 'groupids', 'grouptype', 'projectname', 'name', 'id', 'filter']

/** The reference implementation of key folding, without shortcuts. */
const folded = (key: string): string => key.normalize('NFKC').toLowerCase().replace(/[_-]/g, '')

test('a key with any Unicode character is folded as by the reference implementation', () => {
  const wrong: string[] = []
  for (let code = 0; code <= 0x10_ff_ff; code++) {
    const character = String.fromCodePoint(code)
    for (const key of [`Group${character}Id`, `${character}d`]) {
      const [whole, spared] = [folded(key), foldKey(key)]
      if (whole !== spared && (deciding.includes(whole) || deciding.includes(spared))) wrong.push(key)
    }
  }
  expect(wrong).toEqual([])
}, 300_000)

test('a relevant key is recognized in any escaped spelling, however long', () => {
  const bold = (key: string) =>
    [...key].map((letter) => String.fromCodePoint(0x1d41a + letter.charCodeAt(0) - 97)).join('')
  for (const key of deciding) {
    const written = [...bold(key)].join('_\uff3f-\ufe4d'.repeat(1_000))
    expect(folded(written)).toBe(key)
    expect(foldKey(written)).toBe(key)
  }
})

test('keys are folded once per body', () => {
  const json = readJson('{"Group_ID":"1","x":{"ｇroupIds":["2"],"Name":"3"}}')
  expect(ownershipMembersOf(json)).toBe(ownershipMembersOf(json))
  expect(ownershipMembersOf(json).map(({ meant, object }) => [meant, object])).toEqual([
    ['groupid', 0],
    ['groupids', 1],
    ['name', 1],
  ])
})
