import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { hasTest } from '../support/has-test.ts'

/** How many requirements of levels 1 and 2 each section of ASVS 5.0.0 has. In each, their numbers begin with 1 and have no gap. */
const sections: Readonly<Record<string, number>> = {
  ...{ '1.1': 2, '1.2': 9, '1.3': 11, '1.4': 3, '1.5': 2 },
  ...{ '2.1': 3, '2.2': 3, '2.3': 4, '2.4': 1 },
  ...{ '3.2': 2, '3.3': 4, '3.4': 6, '3.5': 5, '3.7': 2 },
  ...{ '4.1': 3, '4.2': 1, '4.3': 2, '4.4': 4 },
  ...{ '5.1': 1, '5.2': 3, '5.3': 2, '5.4': 3 },
  ...{ '6.1': 3, '6.2': 12, '6.3': 4, '6.4': 4, '6.5': 5, '6.6': 3, '6.8': 4 },
  ...{ '7.1': 3, '7.2': 4, '7.3': 2, '7.4': 5, '7.5': 2, '7.6': 2 },
  ...{ '8.1': 2, '8.2': 3, '8.3': 1, '8.4': 1 },
  ...{ '9.1': 3, '9.2': 4 },
  ...{ '10.1': 2, '10.2': 2, '10.3': 4, '10.4': 11, '10.5': 5, '10.6': 2, '10.7': 3 },
  ...{ '11.1': 2, '11.2': 3, '11.3': 3, '11.4': 4, '11.5': 1, '11.6': 1 },
  ...{ '12.1': 3, '12.2': 2, '12.3': 4 },
  ...{ '13.1': 1, '13.2': 5, '13.3': 2, '13.4': 5 },
  ...{ '14.1': 2, '14.2': 4, '14.3': 3 },
  ...{ '15.1': 3, '15.2': 3, '15.3': 7 },
  ...{ '16.1': 1, '16.2': 5, '16.3': 4, '16.4': 3, '16.5': 3 },
  ...{ '17.1': 1, '17.2': 4, '17.3': 2 },
}

const page = readFileSync(new URL('../../src/asvs.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| (\d[\d.–]*) \| (.+?) \|(?: (.+) \|| \|)$/gm)].map(
  ([, numbers = '', text, shown]) => ({
    numbers,
    text,
    shown,
  }),
)

/** The numbers of a row: one, or those from the first to the last one. */
const numbersOf = (row: string): readonly string[] => {
  const [first = '', last = first] = row.split('–')
  const [section, from] = [first.slice(0, first.lastIndexOf('.')), Number(first.split('.').at(-1))]
  return Array.from({ length: Number(last.split('.').at(-1)) - from + 1 }, (_, nth) => `${section}.${from + nth}`)
}

test('each requirement of levels 1 and 2 is on the page once, in its order', () => {
  const all = Object.entries(sections).flatMap(([section, count]) => numbersOf(`${section}.1–${section}.${count}`))
  expect(all.length).toBe(253)
  expect(rows.flatMap(({ numbers }) => numbersOf(numbers))).toEqual(all)
})

test('each row has a test that exists, or a page, or says why it has none', () => {
  const unproven = rows.filter(({ text = '', shown }) => {
    if (shown === undefined) return !/^(?:not applicable|up to you|\*\*not met\*\*): /.test(text)
    const proof = /^`(.+)` in `(test\/\S+\.test\.ts)`$/.exec(shown)
    return proof ? !hasTest(proof[2] ?? '', proof[1] ?? '') : !/^\[[^\]]+\]\([^)]+\.md\)$/.test(shown)
  })
  expect(unproven).toEqual([])
})
