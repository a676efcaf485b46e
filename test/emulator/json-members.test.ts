import { expect, test } from 'bun:test'
import { membersOf } from '../../src/emulator/shared/members.ts'

test('splitting an object preserves every member byte for byte', () => {
  const members = [
    '"10":1.0',
    '"2" : 12345678901234567890',
    '"a\\"}":"b,{]\\\\"',
    '"c":{"d":[1,{"e":"]}"}]}',
    '"2":null',
  ]
  const text = ` {${members.join(' , ')} } `
  expect(membersOf(text)?.map((member) => member.raw)).toEqual(members)
  expect(membersOf(text)?.map((member) => member.name)).toEqual(['10', '2', 'a"}', 'c', '2'])
  expect(membersOf(text)?.[1]?.value).toBe('12345678901234567890')
})

test('text that is not a JSON object has no members', () => {
  for (const text of ['', '[]', 'null', '1', '"{}"', '{', '{"a":1,}', '{} {}']) expect(membersOf(text)).toBeUndefined()
  expect(membersOf('{}')).toEqual([])
})
