import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { csvLine } from '../../plugins/admin/csv.ts'
import { CsvError, csvRecords } from '../../plugins/admin/user-import/csv-records.ts'

const columns = ['name', 'team']

/** A value of one line, which `csvLine` does not change. */
const value = fc
  .string({ unit: fc.constantFrom('a', '"', ',', ' ', 'ä', '李', '😀', ';', "'"), maxLength: 12 })
  .filter((text) => !/^[=+\-@]/.test(text))

test('what is written as CSV is read back, with any line ends and a byte order mark', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(value, value), { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.boolean(),
      (rows, end, mark, last) => {
        const lines = [columns, ...rows].map((row) => csvLine(row))
        const text = `${mark ? '\uFEFF' : ''}${lines.join(end)}${last ? end : ''}`
        const records = [...csvRecords(new TextEncoder().encode(text), columns, 'name')]
        expect(records).toEqual(rows.map(([name, team], nth) => ({ line: nth + 2, fields: { name, team } })))
      },
    ),
    { numRuns: 500 },
  )
})

test('each line of any bytes is a record or has a problem, and none hides another', () => {
  const bytes = fc.array(fc.constantFrom(0x0a, 0x0d, 0x22, 0x2c, 0x61, 0xc3, 0xbc, 0xff), { maxLength: 60 })
  fc.assert(
    fc.property(bytes, (random) => {
      const content = Buffer.concat([Buffer.from('name,team\n'), Buffer.from(random), Buffer.from('\nlast,one\n')])
      const records = [...csvRecords(content, columns, 'name')]
      const lines = content.toString('latin1').split('\n')
      expect(records.map(({ line }) => line)).toEqual(
        lines.flatMap((line, at) => (at === 0 || line.replace(/\r$/, '') === '' ? [] : [at + 1])),
      )
      expect(records.at(-1)).toMatchObject({ fields: { name: 'last', team: 'one' } })
      for (const record of records)
        if ('fields' in record) expect(Object.keys(record.fields)).toEqual(columns)
        else expect(record.problem).not.toBe('')
    }),
    { numRuns: 2_000 },
  )
})

test('a file that is no table is a CsvError, whatever its bytes', () => {
  for (const content of ['', '\n\n', 'a', 'name,name\n', '\uFEFF', '"name\n', 'x'.repeat(20_000)])
    expect(() => [...csvRecords(new TextEncoder().encode(content), columns, 'name')]).toThrow(CsvError)
})
