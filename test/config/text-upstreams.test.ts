import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { textGeneration } from '../../plugins/text-generation/index.ts'
import { readConfig } from '../../src/config.ts'

const read = (upstreams: unknown, env: Record<string, string> = {}) =>
  readConfig({ TEXT_UPSTREAMS: typeof upstreams === 'string' ? upstreams : JSON.stringify(upstreams), ...env })

const upstreamsOf = (...parameters: Parameters<typeof read>) => {
  const config = read(...parameters)
  if ('problems' in config) throw new Error(config.problems.join('\n'))
  return config.text.upstreams
}
const problemsOf = (...parameters: Parameters<typeof read>) => {
  const config = read(...parameters)
  return 'problems' in config ? config.problems : []
}

const one = { url: 'https://one.example/api/v3' }

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('TEXT_UPSTREAMS', () => {
  test('has every setting of an upstream, in order', () => {
    const first = {
      name: 'first',
      url: 'https://one.example/api/v3',
      headers: { 'x-tenant': 'blue', 'x-api-key': 'a-secret-header' },
      models: ['a', { id: 'vendor/b-2026', alias: 'b', maxTokens: 8192, ownedBy: 'vendor', contextLength: 131_072 }],
      maxTemperature: 1,
      maxTokensField: 'max_completion_tokens',
      streams: false,
      reportsUsage: false,
      chatOnly: true,
      hostedTools: 'drop',
      failover: true,
    }
    const env = { ONE_KEY: 'key-of-one', TWO_KEY: 'key-of-two' }
    const list = [
      { ...first, keyEnv: 'ONE_KEY' },
      { url: 'http://127.0.0.1:8080/', keyEnv: 'TWO_KEY', keyHeader: 'api-key' },
    ]
    expect(upstreamsOf(list, env)).toEqual([
      { ...first, key: 'key-of-one' },
      { url: 'http://127.0.0.1:8080', key: 'key-of-two', keyHeader: 'api-key' },
    ] as never)
    expect(read(list, env)).toMatchObject({ secrets: ['key-of-one', 'a-secret-header', 'key-of-two'] })
  })

  test('is read from a file', () => {
    const file = join(folder, 'upstreams.json')
    writeFileSync(file, JSON.stringify([one]))
    expect(upstreamsOf(`@${file}`)).toEqual([one])
    expect(read(`@${file}`)).toMatchObject({ files: [file] })
    writeFileSync(file, '{')
    for (const path of [file, join(folder, 'none.json')])
      expect(problemsOf(`@${path}`)).toEqual([expect.stringMatching(/^TEXT_UPSTREAMS must be a JSON list/)])
  })

  test('and TEXT_UPSTREAM_URL exclude each other', () => {
    expect(problemsOf([one], { TEXT_UPSTREAM_URL: 'https://two.example/v1' })).toEqual([
      'TEXT_UPSTREAM_URL and TEXT_UPSTREAMS must not both be set',
    ])
    expect(upstreamsOf([{ ...one, keyEnv: 'TEXT_UPSTREAM_KEY' }], { TEXT_UPSTREAM_KEY: 'text-key' })).toEqual([
      { ...one, key: 'text-key' },
    ])
  })

  test('TEXT_UPSTREAM_URL may have any path', () => {
    for (const url of ['https://x.example/api/v3', 'https://x.example', 'http://127.0.0.1:1234/v1'])
      expect(upstreamsOf('', { TEXT_UPSTREAM_URL: `${url}/` })).toEqual([{ url }])
  })

  test('every problem is reported, with the path of its field', () => {
    const list = [
      { url: 'ftp://x', keyEnv: 'NOT_SET', chatonly: true, maxTokens: 0 },
      7,
      {
        ...one,
        key: 'the-secret',
        models: [{ id: '', alias: 'a' }, { alias: 'b' }, 'c', { id: 'd', alias: 'c' }, null],
      },
      { ...one, keyEnv: 'a b', headers: { host: 'x' }, streams: 'no', 'two\nlines': 1, models: [] },
      { ...one, headers: { 'x-a': 'b\r\nc: d' }, models: ['a', { id: 'b', maxToken: 1 }], keyHeader: 'content-length' },
    ]
    const url = 'must be an http or https URL without credentials, query or fragment'
    const headers = 'must be an object of header names and values, without headers that the gateway sets'
    expect([...problemsOf(list)].sort()).toEqual(
      [
        '[0].chatonly is not a setting',
        '[0].keyEnv names a variable that is not set, or has other than printable ASCII characters without spaces',
        '[0].maxTokens must be an integer from 1',
        `[0].url ${url}`,
        '[1] must be an object',
        '[2].key must be given by keyEnv, the name of a variable',
        '[2].models[0].id must be a text that is not empty',
        '[2].models[1].id must be a text that is not empty',
        '[2].models[3] must have a name that no earlier model has',
        '[2].models[4] must be an object',
        '[3] has a field that is not a setting',
        `[3].headers ${headers}`,
        '[3].keyEnv must be the name of a variable',
        '[3].models must be a list that is not empty',
        '[3].streams must be true or false',
        `[4].headers ${headers}`,
        '[4].keyHeader must be the name of a header for credentials',
        '[4].models[1].maxToken is not a setting',
      ].map((problem) => `TEXT_UPSTREAMS${problem}`),
    )
  })

  test('is a list with at least one entry', () => {
    for (const text of ['{}', '[]', 'null', '1', 'x', '[{}'])
      expect(problemsOf(text)).toEqual([expect.stringMatching(/^TEXT_UPSTREAMS must be a JSON list/)])
  })
})

test('the option of the plugin has the same rules', () => {
  const create = (upstream: object) => () =>
    textGeneration({ upstreams: [{ ...one, ...upstream }] as never, identify: () => undefined })
  expect(create({ maxTokens: 4096, more: 1 })).not.toThrow()
  for (const [wrong, problem] of [
    [{ maxTokens: 0 }, 'upstreams[0].maxTokens must be an integer from 1'],
    [{ models: [{ id: 7 }] }, 'upstreams[0].models[0].id must be a text that is not empty'],
    [{ headers: { 'content-type': 'x' } }, 'upstreams[0].headers must be'],
  ] as const)
    expect(create(wrong)).toThrow(problem)
})
