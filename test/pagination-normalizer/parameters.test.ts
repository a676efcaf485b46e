import { describe, expect, spyOn, test } from 'bun:test'
import { type ListRequest, readListRequest } from '../../plugins/pagination-normalizer/index.ts'
import { JsonDocument } from '../../plugins/shared/json/document.ts'
import { readJson } from '../../plugins/shared/json/json.ts'
import { defaults, read, rejectionOf, rules } from './read-request.ts'

describe('an absent parameter has its default', () => {
  test('without parameters', () => {
    expect(read('')).toEqual(defaults)
    expect(read('', {})).toEqual(defaults)
    expect(read('', { Filter: {} })).toEqual(defaults)
    expect(read('', { Filter: null })).toEqual(defaults)
  })

  test('when all parameters are empty', () => {
    const empty =
      'GroupType=&GroupIds=&GroupIds=,&Name=&Statuses=,&SortBy=&SortOrder=&NextToken=&PageNumber=&PageSize=&MaxResults='
    expect(read(empty)).toEqual(defaults)
    const names = ['NextToken', 'PageNumber', 'PageSize', 'MaxResults', 'SortBy', 'SortOrder']
    for (const nothing of ['', null]) {
      const top = Object.fromEntries(names.map((name) => [name, nothing]))
      const Filter = { GroupType: nothing, Name: nothing, GroupIds: nothing, Statuses: nothing }
      expect(read('', { ...top, Filter })).toEqual(defaults)
    }
    expect(read('', { Filter: { GroupIds: [], Statuses: ['', ''] } })).toEqual(defaults)
  })

  test('unknown parameters are ignored in query and body', () => {
    expect(
      read('ProjectName=x&pagesize=5&PAGENUMBER=2&Filter=1', { x: 1, Filter: { y: [], ProjectName: {} } }),
    ).toEqual(defaults)
    expect(read('', { GroupType: 'LivenessFace', Name: 'not in Filter', GroupIds: 5 })).toEqual(defaults)
    expect(read('', { Filter: { PageSize: 5, PageNumber: 7 } })).toEqual(defaults)
  })
})

describe('a parameter is read from every documented position', () => {
  const all: ListRequest = {
    filter: { GroupType: 'LivenessFace', GroupIds: ['a', 'b'], Name: 'n', Statuses: ['Active', 'Failed'] },
    sortBy: 'GroupId',
    sortOrder: 'Asc',
    pageSize: 7,
    pageNumber: 3,
    nextToken: 'tok',
    endpoint: 'things',
  }

  test('in the query', () => {
    const lists = ['GroupIds=a,b&Statuses=Active,Failed', 'GroupIds=a&GroupIds=b&Statuses=Active&Statuses=Failed']
    for (const list of lists) {
      expect(
        read(
          `GroupType=LivenessFace&${list}&Name=n&SortBy=GroupId&SortOrder=Asc&PageSize=7&PageNumber=3&NextToken=tok`,
        ),
      ).toEqual(all)
    }
  })

  test('in the body', () => {
    const Filter = { GroupType: 'LivenessFace', GroupIds: ['a', 'b'], Name: 'n', Statuses: ['Active', 'Failed'] }
    const paging = { SortBy: 'GroupId', SortOrder: 'Asc', NextToken: 'tok' }
    expect(read('', { Filter, ...paging, PageSize: 7, PageNumber: 3 })).toEqual(all)
    expect(read('', { Filter: { ...Filter, ...paging }, PageSize: '7', PageNumber: '3' })).toEqual(all)
    expect(read('', { Filter: { ...Filter, ...paging, MaxResults: 7 }, PageNumber: 3 })).toEqual(all)
    expect(read('', { Filter: { ...Filter, ...paging }, MaxResults: '7', PageNumber: 3 })).toEqual(all)
  })

  test('the query has priority, for each parameter', () => {
    const body = {
      PageNumber: 9,
      PageSize: 9,
      SortBy: 'UpdateTime',
      NextToken: 'body',
      Filter: { GroupType: 'LivenessFace', Name: 'body', GroupIds: ['body'], SortOrder: 'Asc' },
    }
    expect(read('PageSize=5&Name=query&GroupIds=query&NextToken=query', body)).toEqual({
      ...defaults,
      filter: { GroupType: 'LivenessFace', Name: 'query', GroupIds: ['query'] },
      pageNumber: 9,
      pageSize: 5,
      sortBy: 'UpdateTime',
      sortOrder: 'Asc',
      nextToken: 'query',
    })
    // An empty parameter in the query counts as absent.
    expect(read('PageSize=&Name=', body)).toMatchObject({ pageSize: 9, filter: { Name: 'body' } })
  })

  test('the top level of the body has priority over Filter', () => {
    expect(
      read('', { SortBy: 'GroupId', MaxResults: 4, Filter: { SortBy: 'UpdateTime', MaxResults: 5 } }),
    ).toMatchObject({
      sortBy: 'GroupId',
      pageSize: 4,
    })
  })

  test('PageSize has priority over MaxResults in every position', () => {
    expect(read('PageSize=5&MaxResults=6').pageSize).toBe(5)
    expect(read('MaxResults=6').pageSize).toBe(6)
    expect(read('MaxResults=6', { PageSize: 5 }).pageSize).toBe(5)
    expect(read('PageSize=5', { MaxResults: 6 }).pageSize).toBe(5)
  })
})

describe('a list parameter is a set', () => {
  test('without empty and duplicate entries', () => {
    expect(read('GroupIds=a,,b&GroupIds=a&GroupIds=').filter).toMatchObject({ GroupIds: ['a', 'b'] })
    expect(read('', { Filter: { GroupIds: ['a', '', 'b', 'a'] } }).filter).toMatchObject({ GroupIds: ['a', 'b'] })
  })

  test('an entry that cannot be an id is kept, never dropped', () => {
    for (const id of ['a%2Fb', 'a%3Fb', '..', '%00', 'a%20b', 'x'.repeat(257), '%ff']) {
      expect([id, read(`GroupIds=${id}`).filter.GroupIds]).toEqual([id, ['\0']])
    }
    expect(read('', { Filter: { GroupIds: ['a,b'] } }).filter.GroupIds).toEqual(['\0'])
  })
})

describe('an invalid parameter is rejected by name', () => {
  test('a number out of range, or not an integer', () => {
    for (const name of ['PageSize', 'MaxResults']) {
      for (const text of [
        '0',
        '101',
        '-1',
        '1.5',
        '1e1',
        '0x1',
        '%2B1',
        '%201',
        '1%20',
        'x',
        '99999999999999999999',
        'NaN',
        '1,2',
        '١',
      ]) {
        expect(rejectionOf(`${name}=${text}`)).toBe(`${name} must be an integer from 1 to 100`)
      }
      expect(read(`${name}=1`).pageSize).toBe(1)
      expect(read(`${name}=100`).pageSize).toBe(100)
    }
    for (const text of ['0', '-1', '1.0', '9007199254740993', '1e3']) {
      expect(rejectionOf(`PageNumber=${text}`)).toBe('PageNumber must be an integer of at least 1')
    }
    expect(read('PageNumber=9007199254740991').pageNumber).toBe(9007199254740991)
  })

  test('an unused number is validated, too', () => {
    expect(rejectionOf('PageSize=5&MaxResults=101')).toContain('MaxResults')
    expect(rejectionOf('NextToken=x&PageNumber=0')).toContain('PageNumber')
  })

  test('an enum value in another spelling', () => {
    for (const text of ['aigc', 'AIGC2', 'AIGC,LivenessFace', 'null']) {
      expect(rejectionOf(`GroupType=${text}`)).toBe('GroupType must be one of AIGC, LivenessFace')
    }
    expect(rejectionOf('SortBy=createtime')).toBe('SortBy must be one of CreateTime, UpdateTime, GroupId')
    expect(rejectionOf('SortOrder=DESC')).toBe('SortOrder must be one of Desc, Asc')
    expect(rejectionOf('Statuses=Active,active')).toBe('Statuses must be one of Active, Processing, Failed')
    expect(rejectionOf('', { Filter: { Statuses: ['Active,Failed'] } })).toContain('Statuses')
    expect(rejectionOf('Statuses=%20Active')).toContain('Statuses')
  })

  test('a name of more than 64 code points', () => {
    expect(read(`Name=${'\u{1f600}'.repeat(64)}`).filter.Name).toBe('\u{1f600}'.repeat(64))
    expect(rejectionOf(`Name=${'\u{1f600}'.repeat(65)}`)).toBe('Name must be at most 64 characters')
    expect(rejectionOf(`Name=${'x'.repeat(65)}`)).toBe('Name must be at most 64 characters')
    expect(rejectionOf(`Name=${'x'.repeat(100_000)}`)).toBe('Name must be at most 64 characters')
  })

  test('a wrong JSON type', () => {
    for (const value of [true, {}, [], [5]]) {
      for (const name of ['PageNumber', 'PageSize', 'MaxResults']) {
        expect(rejectionOf('', { [name]: value })).toBe(`${name} must be an integer`)
      }
      for (const name of ['NextToken', 'SortBy', 'SortOrder']) {
        expect(rejectionOf('', { [name]: value })).toBe(`${name} must be a string`)
        expect(rejectionOf('', { Filter: { [name]: value } })).toBe(`${name} must be a string`)
      }
      for (const name of ['Name', 'GroupType'])
        expect(rejectionOf('', { Filter: { [name]: value } })).toBe(`${name} must be a string`)
    }
    for (const name of ['NextToken', 'SortBy']) expect(rejectionOf('', { [name]: 5 })).toBe(`${name} must be a string`)
    for (const value of ['a', 5, true, {}, [5], [null], [['a']]]) {
      expect(rejectionOf('', { Filter: { GroupIds: value } })).toBe('GroupIds must be an array of strings')
    }
    for (const value of [5, 'x', [], true]) expect(rejectionOf('', { Filter: value })).toBe('Filter must be an object')
    for (const text of ['1.5', '0', '-1', '101', '1e400'])
      expect(rejectionOf('', `{"PageSize":${text}}`)).toContain('PageSize')
  })

  test('a duplicate parameter', () => {
    for (const name of ['PageNumber', 'PageSize', 'NextToken', 'Name', 'GroupType', 'SortBy']) {
      expect(rejectionOf(`${name}=1&${name}=2`)).toBe(`${name} is given more than once`)
      expect(() => read(`${name}=&${name}=`)).not.toThrow()
    }
    expect(rejectionOf('', '{"PageSize":1,"PageSize":2}')).toBe('PageSize is given more than once')
    expect(rejectionOf('', '{"Filter":{},"Filter":{"GroupIds":["a"]}}')).toBe('Filter is given more than once')
    expect(rejectionOf('', '{"Filter":{"GroupIds":["a"],"Group\\u0049ds":["b"]}}')).toBe(
      'GroupIds is given more than once',
    )
    expect(rejectionOf('', '{"Filter":{"NextToken":"a","NextToken":"a"}}')).toBe('NextToken is given more than once')
  })
})

describe('the rules of an endpoint', () => {
  test('may set page sizes and filters without default', () => {
    const own = {
      endpoint: 'e',
      filters: { A: { kind: 'word', words: ['x'] } },
      sortBy: ['T'],
      defaultPageSize: 3,
      maxPageSize: 5,
    } as const
    expect(readListRequest(own, new URLSearchParams())).toEqual({
      ...defaults,
      endpoint: 'e',
      filter: {},
      sortBy: 'T',
      pageSize: 3,
    })
    expect(() => readListRequest(own, new URLSearchParams('PageSize=6'))).toThrow(
      'PageSize must be an integer from 1 to 5',
    )
    expect(rules.endpoint).toBe('things')
  })
})

test('keys of a large body that are no parameters are not decoded', () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, nth) => [`${nth}k`, 1]))
  const body = readJson(JSON.stringify({ ...many, Filter: { ...many, Name: 'n' }, PageSize: 7 }))
  const decode = spyOn(JsonDocument.prototype, 'string')
  try {
    expect(readListRequest(rules, new URLSearchParams(), body)).toMatchObject({ pageSize: 7, filter: { Name: 'n' } })
    expect(decode.mock.calls.length).toBeLessThan(100)
  } finally {
    decode.mockRestore()
  }
})
