import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { queryOf } from '../../plugins/pagination-normalizer/parameters.ts'

const both = (query: string) => ({
  own: [...queryOf(`http://localhost/list?${query}`)],
  standard: [...new URLSearchParams(`?${query}`)] as (readonly [string, string])[],
})

describe('the query parser agrees with URLSearchParams', () => {
  test('for absent, empty and repeated parameters, without values, with special characters', () => {
    expect([...queryOf('http://localhost/list')]).toEqual([])
    for (const query of ['', '&', '=', 'a', 'a=', '=a', 'a=b=c', 'a&&b', 'a=1&a=2&a=', 'a?b=?', 'a=#b', 'x=1#y']) {
      const { own, standard } = both(query)
      expect([query, own]).toEqual([query, standard])
    }
  })

  test('for valid, incomplete and non-UTF-8 percent-encoding', () => {
    for (const query of [
      'a+b=c+d',
      '%41=%2B+%20',
      'a=%',
      'a=%4',
      'a=%zz',
      'a=%ff',
      'a=%26%3D',
      '%26=%3D',
      'a=é',
      'é=%C3%A9',
    ]) {
      const { own, standard } = both(query)
      expect([query, own]).toEqual([query, standard])
    }
  })

  test('for random texts', () => {
    const sign = fc.constantFrom('a', 'B', '0', '=', '&', '%', '+', '4', '?', '/', 'é', '%C3', '%A9', '%2C', ',')
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 30 }), (signs) => {
        const { own, standard } = both(signs.join(''))
        expect(own).toEqual(standard)
      }),
    )
  })
})
