import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createToken } from '../../plugins/api-token/token.ts'
import { createLog } from '../../src/log.ts'
import { repetitions } from '../support/repetitions.ts'

const logged = (secrets: readonly string[], fields: object, message = 'said') => {
  const lines: string[] = []
  createLog({ level: 'trace', secrets, write: (line) => lines.push(line) }).info(fields, message)
  expect(lines).toHaveLength(1)
  const [line = ''] = lines
  expect(line.indexOf('\n')).toBe(line.length - 1)
  return { line, entry: JSON.parse(line) }
}

test('a line is one JSON object with time, level, fields and message', () => {
  const { entry } = logged([], { user: 'u', nested: { count: 2 } })
  expect(entry).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    user: 'u',
    nested: { count: 2 },
    msg: 'said',
  })
})

test('lines below the level are not written', () => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', secrets: [], write: (line) => lines.push(line) })
  log.debug({}, 'a')
  log.info({}, 'b')
  log.warn({}, 'c')
  log.error({}, 'd')
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['c', 'd'])
  createLog({ level: 'silent', secrets: [], write: (line) => lines.push(line) }).error({}, 'e')
  expect(lines).toHaveLength(2)
})

test('an error is written with its causes', () => {
  const cause = Object.assign(new Error('the socket is closed'), { code: 'ECONNRESET' })
  const { entry } = logged([], { err: new Error('could not ask', { cause }) })
  expect(entry.err.message).toBe('could not ask')
  expect(entry.err.cause).toMatchObject({ message: 'the socket is closed', code: 'ECONNRESET' })
})

const signedLinks = [
  'https://bucket.example/v.mp4?X-Tos-Expires=86400&X-Tos-Signature=0123456789abcdef0123456789abcdef&X-Tos-SignedHeaders=host',
  'https://gateway.example/api/files/results/v.mp4?expires=1795400000&signature=aB3-_0123456789aB3-_0123456789aB3-_01234567',
]
test.each(signedLinks)('the signature of a link never appears: %s', (link) => {
  // As Bun and Deno have the address in an error of `fetch`.
  for (const err of [
    Object.assign(new Error('refused'), { path: link }),
    new Error(`error sending request (${link})`),
  ]) {
    const { line } = logged([], { err })
    expect(line).toContain('ignature=[redacted]')
    expect(line).not.toMatch(/0123456789/)
    expect(line).toContain('v.mp4')
  }
})

const secret = 'p"a\\s/s w+ö%d'
const forms = {
  plain: secret,
  'in JSON': JSON.stringify({ a: secret }),
  'in JSON in JSON': JSON.stringify(JSON.stringify({ a: secret })),
  'in a path': `https://x/${encodeURIComponent(secret)}/y`,
  'in a query': `https://x/?${new URLSearchParams({ a: secret })}`,
  'in another case': secret.toUpperCase(),
}
test.each(Object.entries(forms))('a secret never appears: %s', (_name, text) => {
  for (const fields of [{ text }, { deep: [{ er: text }] }, { [text]: 1 }, { err: new Error(text) }, {}]) {
    const { line } = logged([secret, 'p"a\\s/s '], fields, Object.keys(fields).length === 0 ? text : 'said')
    expect(line).toContain('[redacted]')
    for (const form of Object.values(forms)) expect(line.includes(form)).toBe(false)
    expect(line).not.toContain('s w+')
  }
})

test('a secret in the cause of a cause never appears', () => {
  const { line } = logged(['hidden-word'], {
    err: new Error('a', { cause: new Error('b', { cause: new Error('hidden-word') }) }),
  })
  expect(line).not.toContain('hidden-word')
})

test('redacting a secret of digits keeps the line valid JSON', () => {
  const { entry } = logged(['1234567890123456'], { count: 1234567890123456 })
  expect(entry.count).toBe('[redacted]')
})

test('a secret of less than 8 characters is not searched, so that words and the names of fields are kept', () => {
  const fields = { access: 'granted', state: 'sevenle' }
  expect(logged(['', 'a', 'e', 'access', 'sevenle'], fields, 'access granted').entry).toMatchObject({
    ...fields,
    msg: 'access granted',
  })
  expect(logged(['eight-ch'], { text: 'x eight-ch y' }).entry.text).toBe('x [redacted] y')
})

test.each(['p', 'short', 'one.that:is-longer%40'])('a password in an address never appears: %s', (password) => {
  const { entry } = logged(
    [],
    { err: new Error(`no connection to postgres://ann:${password}@db.example:5432/x`) },
    'a@b',
  )
  expect(entry.err.message).toBe('no connection to postgres://ann:[redacted]@db.example:5432/x')
  const kept = { link: 'http://db.example:5432/a:b@c', mail: 'ann@example.org', at: 'https://ann@example.org/x' }
  expect(logged([], kept).entry).toMatchObject(kept)
})

test('a secret that is a prefix of another does not reveal the rest of it', () => {
  expect(logged(['a-secret', 'a-secret-longer'], { text: 'a-secret-longer' }).entry.text).toBe('[redacted]')
})

test.each([
  createToken(),
  `Bearer ${createToken()}`,
  'sk-proj-AbC_1234567890',
  'authorization: bearer eyJhbGciOi.J9.x-_/y==',
  'Bearer%20eyJhbGciOiJ9',
  `line\n${createToken()}`,
  `x${createToken()}`,
  JSON.stringify({ text: `a\n${createToken()}` }),
])('text that looks like a token never appears: %j', (text) => {
  const { line } = logged([], { text })
  expect(line).toContain('[redacted]')
  expect(line).not.toMatch(/[A-Za-z0-9]{12}"/)
  expect(line).not.toContain('eyJ')
})

test('text that only resembles a token is kept', () => {
  const fields = { asset: 'task-abcdefgh', note: 'no bearer was sent', risk: 'risk-123456' }
  expect(logged([], fields).entry).toMatchObject(fields)
})

const root = join(import.meta.dir, '../..')
const script = `
  import { createLog } from '${join(root, 'src/log.ts')}'
  createLog({ level: 'info', secrets: ['hidden-word'] }).warn({ err: new Error('a hidden-word') }, 'said')
  process.exit(0)`
const runtimes = {
  bun: [process.execPath, '-e', script],
  deno: [join(root, 'node_modules/.bin/deno'), 'eval', '--no-lock', script],
}
test.each(repetitions(...Object.entries(runtimes)))(
  'lines are written to standard error synchronously, on %s',
  async (_name, [command = '', ...args]) => {
    const child = spawn(command, args, { cwd: root })
    const output = { out: '', err: '' }
    child.stdout.on('data', (chunk) => {
      output.out += chunk
    })
    child.stderr.on('data', (chunk) => {
      output.err += chunk
    })
    await new Promise((resolve) => child.on('close', resolve))
    expect(output.out).toBe('')
    expect(JSON.parse(output.err)).toMatchObject({ level: 'warn', msg: 'said', err: { message: 'a [redacted]' } })
  },
  300_000,
)
