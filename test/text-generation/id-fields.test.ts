import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  API,
  type Checker,
  type Program,
  type Type,
  TypeFlags,
  type TypeReference,
  type UnionOrIntersectionType,
} from 'typescript/unstable/async'
import { readJson } from '../../plugins/shared/json/json.ts'
import { objectFields } from '../../plugins/text-generation/objects/id-fields.ts'
import { objectReferences } from '../../plugins/text-generation/objects/references.ts'

/** Names of fields that may contain the id of an object. */
const idLike =
  /(?:^|_)(?:ids?|identifier|conversation|container|batch|thread|session|handle|reference|cache_key)$|^(?:prompt|voice|audio|file|skill)$/

/** Id-like names without a foreign id: own ids of objects, and settings. */
const holders = new Set(['.prompt', 'content.file', '.audio', 'messages.audio', 'audio.voice', 'input.id'])

interface Found {
  /** Name of the parent object, and of the field. */
  readonly field: string
  readonly name: string
}

const responses = 'responses/responses.d.mts'
const completions = 'chat/completions/completions.d.mts'

/** The compiler knows a file of the client by its real path, also where `node_modules` is a link. */
const pathOf = (file: string): string =>
  realpathSync(new URL(`../../node_modules/openai/resources/${file}`, import.meta.url))

/** Every id-like field of the request types of OpenAI's client, from the compiler. */
const idFieldsOf = async (checker: Checker, program: Program, file: string, name: string): Promise<Found[]> => {
  const source = await program.getSourceFile(pathOf(file))
  const module = source && (await checker.getSymbolAtLocation(source))
  const symbol = module && (await checker.getMemberInModuleExports(module, name))
  if (!symbol) throw new Error(`the official client has no ${name}`)
  const found: Found[] = []
  const seen = new Set<string>()
  const visit = async (type: Type | undefined, parent: string): Promise<void> => {
    if (!type) return
    if ((type.flags & TypeFlags.UnionOrIntersection) !== 0) {
      for (const each of await (type as UnionOrIntersectionType).getTypes()) await visit(each, parent)
      return
    }
    if ((type.flags & TypeFlags.Object) === 0) return
    if (await checker.isArrayType(type)) {
      for (const each of await checker.getTypeArguments(type as TypeReference)) await visit(each, parent)
      return
    }
    // The same type below another parent may need another entry.
    if (seen.has(`${type.id} ${parent}`)) return
    seen.add(`${type.id} ${parent}`)
    for (const info of await checker.getIndexInfosOfType(type)) await visit(info.valueType, parent)
    const properties = await checker.getPropertiesOfType(type)
    const types = await checker.getTypeOfSymbol(properties)
    for (const [index, property] of properties.entries()) {
      if (idLike.test(property.name)) found.push({ field: `${parent}.${property.name}`, name: property.name })
      await visit(types[index], property.name)
    }
  }
  await visit(await checker.getDeclaredTypeOfSymbol(symbol), '')
  return found
}

const missing = (found: readonly Found[], table: Pick<typeof objectFields, 'has'>): readonly string[] => [
  ...new Set(
    found.flatMap(({ field, name }) => (table.has(field) || table.has(name) || holders.has(field) ? [] : [field])),
  ),
]

describe('the table of id fields', () => {
  let found: Found[] = []

  beforeAll(async () => {
    // A project of these files only: that of the repository takes the compiler many times as long.
    const folder = mkdtempSync(join(tmpdir(), 'sluice-id-fields-'))
    const config = join(folder, 'tsconfig.json')
    const compilerOptions = { strict: true, target: 'esnext', module: 'nodenext', types: [] }
    writeFileSync(config, JSON.stringify({ compilerOptions, files: [pathOf(responses), pathOf(completions)] }))
    const api = new API({ cwd: folder })
    try {
      const snapshot = await api.updateSnapshot({ openProjects: [config] })
      const [project] = snapshot.getProjects()
      if (!project) throw new Error('the compiler opened nothing')
      const { checker, program } = project
      found = [
        ...(await idFieldsOf(checker, program, responses, 'ResponseCreateParamsBase')),
        ...(await idFieldsOf(checker, program, completions, 'ChatCompletionCreateParamsBase')),
      ]
    } finally {
      await api.close()
      rmSync(folder, { recursive: true })
    }
  }, 300_000)

  test('contains every id-like field of the requests of OpenAI’s client', () => {
    expect(found.length).toBeGreaterThan(50)
    expect(missing(found, objectFields)).toEqual([])
  })

  test('this test detects a missing one', () => {
    const names = ['previous_response_id', 'comparison_response_id', 'conversation', 'file_id', 'vector_store_ids']
    for (const name of [...names, 'container', 'container_id', 'skill_id', 'tunnel_id', 'prompt.id', 'audio.id']) {
      const without = { has: (key: string) => key !== name && key !== `${name}.id` && objectFields.has(key) }
      expect([name, missing(found, without).length > 0]).toEqual([name, true])
    }
  })

  test('has no spelling that the lookup never uses', () => {
    for (const field of objectFields.keys()) expect(field).toMatch(/^[a-z_]+(?:\.[a-z_]+)?$/)
  })
})

const named = (request: unknown) =>
  objectReferences(readJson(typeof request === 'string' ? request : JSON.stringify(request))).map(
    ({ kind, param, id }) => `${param}: ${kind} ${id.raw}`,
  )

const input = (item: object) => ({ model: 'm', input: [item] })
const content = (part: object) => input({ role: 'user', content: [part] })
const tool = (it: object) => ({ model: 'm', input: 'x', tools: [it] })

describe('an id in a request is found', () => {
  const rows: readonly (readonly [string, object | string])[] = [
    ['previous_response_id: response "r"', { previous_response_id: 'r' }],
    [
      'prompt_cache_options.comparison_response_id: response "r"',
      { prompt_cache_options: { comparison_response_id: 'r' } },
    ],
    ['conversation: conversation "c"', { conversation: 'c' }],
    ['conversation.id: conversation "c"', { conversation: { id: 'c' } }],
    ['prompt.id: prompt "p"', { prompt: { id: 'p', variables: {} } }],
    ['prompt.variables.x.file_id: file "f"', { prompt: { variables: { x: { type: 'input_file', file_id: 'f' } } } }],
    ['input[0].content[0].file_id: file "f"', content({ type: 'input_file', file_id: 'f' })],
    ['input[0].content[0].file_id: file "f"', content({ type: 'input_image', file_id: 'f' })],
    ['input[0].output[0].file_id: file "f"', input({ type: 'function_call_output', output: [{ file_id: 'f' }] })],
    [
      'messages[0].content[0].file.file_id: file "f"',
      { messages: [{ content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    ],
    ['messages[0].audio.id: recording "a"', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }],
    ['audio.voice.id: voice "v"', { audio: { voice: { id: 'v' } } }],
    ['tools[0].vector_store_ids[0]: vector store "v"', tool({ type: 'file_search', vector_store_ids: ['v'] })],
    ['tools[0].container: container "c"', tool({ type: 'code_interpreter', container: 'c' })],
    ['tools[0].container.file_ids[0]: file "f"', tool({ container: { type: 'auto', file_ids: ['f'] } })],
    ['container.id: container "c"', { container: { id: 'c' } }],
    ['batch.id: batch "b"', { batch: { id: 'b' } }],
    ['messages[0].content[0].file.id: file "f"', { messages: [{ content: [{ type: 'file', file: { id: 'f' } }] }] }],
    ['extra_body.google.cached_content: cache "c"', { extra_body: { google: { cached_content: 'c' } } }],
    ['cachedContent: cache "c"', { cachedContent: 'c' }],
    ['tools[0].environment.container_id: container "c"', tool({ environment: { container_id: 'c' } })],
    ['tools[0].environment.skills[0].skill_id: skill "s"', tool({ environment: { skills: [{ skill_id: 's' }] } })],
    ['tools[0].tunnel_id: tunnel "t"', tool({ type: 'mcp', tunnel_id: 't' })],
    ['input[0].tools[0].container: container "c"', input({ type: 'additional_tools', tools: [{ container: 'c' }] })],
    ['input[0].container_id: container "c"', input({ type: 'code_interpreter_call', container_id: 'c' })],
    ['input[0].approval_request_id: item "a"', input({ type: 'mcp_approval_response', approval_request_id: 'a' })],
    ['batch_id: batch "b"', { batch_id: 'b' }],
    ['thread_id: object "t"', { thread_id: 't' }],
    ['request_id: object "r"', { request_id: 'r' }],
    ['extra.knowledge_ids[0]: object "k"', { extra: { knowledge_ids: ['k'] } }],
  ]
  for (const [expected, request] of rows) {
    test(expected, () => {
      expect(named(request)).toEqual([expected])
    })
  }

  test('with any spelling of its key', () => {
    for (const key of [
      'PREVIOUS_RESPONSE_ID',
      'previousResponseId',
      'Previous-Response-Id',
      'previou\u017f_response_id',
    ]) {
      expect(named({ [key]: 'r' })).toEqual([`${key}: response "r"`])
    }
    expect(named('{"previous_respons\\u0065_id":"r"}')).toEqual(['previous_response_id: response "r"'])
    expect(named('{"previous_response_id"\n\t: "r"}')).toEqual(['previous_response_id: response "r"'])
  })

  test('for each occurrence, with any value', () => {
    expect(named('{"conversation":"a","conversation":{"id":"b","id":"c"}}')).toHaveLength(3)
    expect(named({ previous_response_id: ['a', { id: 'b' }, 7] })).toHaveLength(3)
    expect(named({ previous_response_id: null, file_ids: [], conversation: null })).toEqual([])
  })
})

/** A key in a spelling that only a tolerant upstream might read. */
const spelled = (name: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(
      name,
      name.toUpperCase(),
      name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()),
    ),
    fc.nat(name.length - 1).map((at) => name.slice(0, at) + name.charAt(at).toUpperCase() + name.slice(at + 1)),
  )

/** JSON text of a key with some escaped letters. */
const written = (key: string, escapes: number): string =>
  `"${[...key].map((letter, at) => ((escapes >> at) & 1 ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter)).join('')}"`

test('no spelling and no position hides an id', () => {
  const names = ['previous_response_id', 'conversation', 'file_id', 'container', 'vector_store_ids', 'thread_id']
  const field = fc.constantFrom(...names).chain(spelled)
  const around = fc.array(
    fc.constantFrom(
      'input',
      'tools',
      'content',
      'extra',
      'messages',
      'prompt',
      'text',
      'variables',
      'parameters',
      0,
      1,
    ),
    { maxLength: 7 },
  )
  const property = fc.property(
    field,
    around,
    fc.nat(2 ** 20),
    fc.constantFrom('', ' ', '\n\t'),
    (key, steps, bits, gap) => {
      const schema = steps.some((step, at) => step === 'parameters' && nameAround(steps, at) === 'tools')
      const planted = `{${written(key, bits)}${gap}:${gap}"secret","also":{}}`
      const json = steps.reduceRight<string>(
        (inner, step) => (typeof step === 'number' ? `[${'{},'.repeat(step)}${inner}]` : `{"x":[],"${step}":${inner}}`),
        planted,
      )
      const request = json.startsWith('[') ? `{"input":${json}}` : json
      const found = objectReferences(readJson(request)).map(({ id }) => id.raw)
      expect(found.includes('"secret"')).toBe(!schema)
    },
  )
  fc.assert(property, { numRuns: 2000 })
})

/** Name of the parent object of a step. Arrays have no name. */
const nameAround = (steps: readonly (string | number)[], at: number): unknown =>
  steps.slice(0, at).findLast((step) => typeof step === 'string')

describe('an input item references another item', () => {
  const refers = (item: object | string) =>
    named(typeof item === 'string' ? `{"input":[${item}]}` : input(item)).filter((found) => found.includes(': item'))

  const references: readonly object[] = [
    { type: 'item_reference', id: 'i' },
    { type: null, id: 'i' },
    { id: 'i' },
    { id: 'i', content: 'x' },
    { type: 'reasoning', id: 'i', summary: [] },
    { type: 'reasoning', id: 'i', summary: [{ type: 'summary_text', text: 'x' }], encrypted_content: '' },
    { type: 'image_generation_call', id: 'i', result: 'aGk=' },
    { type: 'web_search_call', id: 'i', action: { type: 'search', query: 'x' } },
    { type: 'file_search_call', id: 'i', queries: [] },
    { type: 'mcp_call', id: 'i' },
    { type: 'something_new', id: 'i', content: 'x' },
    { type: 'reasoning', id: 'i', summary: [], encrypted_content: 'x' },
    { type: 'compaction', id: 'i', encrypted_content: 'x' },
    { type: 'message', Type: 'item_reference', id: 'i', role: 'user', content: 'x' },
    { type: null, Type: 'message', id: 'i', content: 'x' },
    { Role: 'user', id: 'i', content: 'x' },
    { type: 7, id: 'i', role: 'user' },
    { id: 'i', role: 'user' },
    { type: 'message', id: 'i' },
    { type: 'message', id: 'i', role: 'assistant', content: null },
    { type: 'function_call', id: 'i', call_id: 'c', name: 'f' },
    { type: 'function_call_output', id: 'i', call_id: 'c' },
    { type: 'message', Type: 'function_call', id: 'i', role: 'user', content: 'x' },
  ]
  for (const item of references) {
    test(`where an upstream would look it up: ${JSON.stringify(item)}`, () => {
      expect(refers(item)).toEqual(['input[0].id: item "i"'])
    })
  }

  const labels: readonly object[] = [
    { id: 'i', role: 'user', content: 'x' },
    { type: 'message', id: 'i', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] },
    { type: 'function_call', id: 'i', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', id: 'i', call_id: 'c', output: 'x' },
    { type: 'function_call_output', id: 'i', call_id: 'c', output: '' },
    { id: 'i', role: 'user', text: 'x' },
    { type: 'custom_tool_call', id: 'i', call_id: 'c', name: 'f', input: '' },
    { type: 'tool_search_output', id: 'i', call_id: 'c', execution: 'client', tools: [] },
    { type: 'agent_message', id: 'i', author: '/root', recipient: '/root/one', content: [] },
  ]
  for (const item of labels) {
    test(`but not where it is complete: ${JSON.stringify(item)}`, () => {
      expect(refers(item)).toEqual([])
    })
  }
})

describe('a request with many ids', () => {
  test('is searched only up to the limit', () => {
    const many = JSON.stringify({ x: Array.from({ length: 5000 }, () => ({ file_id: 'f', file_ids: ['f', 'g'] })) })
    expect(objectReferences(readJson(many), 10)).toHaveLength(11)
    const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, nth) => [`k${nth}_id`, 'x']))
    expect(objectReferences(readJson(JSON.stringify(keys)), 10)).toHaveLength(11)
  })
})

describe('other ids pass', () => {
  const rows: readonly object[] = [
    { metadata: { file_id: 'f', order_id: 'o' }, user: 'u', safety_identifier: 's', prompt_cache_key: 'k' },
    {
      messages: [
        { id: 'm', role: 'assistant', tool_calls: [{ id: 'c' }] },
        { role: 'tool', tool_call_id: 'c' },
      ],
    },
    tool({
      type: 'function',
      name: 'f',
      parameters: { properties: { file_id: {}, user_ids: {} }, required: ['file_id'] },
    }),
    { tools: [{ type: 'function', function: { name: 'f', parameters: { properties: { thread_id: {} } } } }] },
    { response_format: { type: 'json_schema', json_schema: { schema: { properties: { order_id: {} } } } } },
    { text: { format: { type: 'json_schema', schema: { properties: { order_id: {} } } } } },
    content({ type: 'input_text', text: '"file_id": "x", "previous_response_id":"y"' }),
    content({ type: 'output_text', text: 'x', annotations: [{ type: 'file_citation', file_id: 'f' }] }),
    { prompt: 'text', container: { type: 'auto' }, valid: 'x', grid: 1, identity: 'x' },
    tool({ type: 'mcp', connector_id: 'connector_gmail', authorization: 'own' }),
    { client_metadata: { session_id: 's', turn_id: 't', 'x-codex-installation-id': 'i' } },
  ]
  for (const request of rows) {
    test(JSON.stringify(request), () => {
      expect(named(request)).toEqual([])
    })
  }
})
