import { describe, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { hashPassword, verifyPassword } from '../../plugins/web-session/password.ts'

describe('password', () => {
  test('a hash matches its password only', async () => {
    const hash = await hashPassword('correct horse')
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(await verifyPassword('correct horse', hash)).toBe(true)
    for (const wrong of ['correct horse ', 'Correct horse', '', 'x'])
      expect(await verifyPassword(wrong, hash)).toBe(false)
  })

  test('two hashes of one password differ', async () => {
    expect(await hashPassword('same')).not.toBe(await hashPassword('same'))
  })

  test('hashes are compatible with other programs', async () => {
    expect(await Bun.password.verify('correct horse', await hashPassword('correct horse'))).toBe(true)
    const foreign = await Bun.password.hash('correct horse', { algorithm: 'argon2id', memoryCost: 1024, timeCost: 3 })
    expect(await verifyPassword('correct horse', foreign)).toBe(true)
    expect(await verifyPassword('correct house', foreign)).toBe(false)
  })

  test('passwords are compared in Unicode normal form', async () => {
    expect(await verifyPassword('cafe\u0301', await hashPassword('caf\u00e9'))).toBe(true)
  })

  test('a password is not empty', async () => {
    await expect(hashPassword('')).rejects.toThrow('a password must not be empty')
  })

  test.each([
    '',
    'plain',
    '$2b$10$abcdefghijklmnopqrstuv',
    '$argon2id$v=19$m=19456,t=2,p=1$$',
    '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0$',
    '$argon2id$v=19$m=0,t=0,p=0$c2FsdHNhbHRzYWx0c2FsdA$c2FsdHNhbHRzYWx0c2FsdHNhbHRzYWx0',
    '$argon2id$v=19$m=9999999999,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$c2FsdHNhbHRzYWx0c2FsdHNhbHRzYWx0',
    '$scrypt$ln=4,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$c2FsdHNhbHRzYWx0c2FsdHNhbHRzYWx0',
  ])('a malformed hash matches no password: %j', async (hash) => {
    expect(await verifyPassword('plain', hash)).toBe(false)
  })

  test('with 2 running and 32 waiting hashes further ones are rejected, and accepted afterwards', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => hashPassword('x')))
    const rejected = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(rejected).toHaveLength(6)
    for (const outcome of rejected) expect(outcome).toMatchObject({ reason: { status: 503 } })
    expect(await hashPassword('x')).toBeString()
  }, 300_000)

  test('a hash of one runtime can be verified by the other', async () => {
    const root = join(import.meta.dir, '../..')
    const script = `
      import { hashPassword, verifyPassword } from '${join(root, 'plugins/web-session/password.ts')}'
      const hash = await hashPassword('cafe\u0301')
      const foreign = ${JSON.stringify(await hashPassword('caf\u00e9'))}
      console.log(JSON.stringify({
        hash,
        right: await verifyPassword('caf\u00e9', hash),
        wrong: await verifyPassword('wrong', hash),
        noHash: await verifyPassword('wrong', undefined),
        foreign: await verifyPassword('cafe\u0301', foreign),
        foreignWrong: await verifyPassword('wrong', foreign),
      }))`
    const child = spawn(join(root, 'node_modules/.bin/deno'), ['run', '-A', '--no-lock', '-'], { cwd: root })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stdin.end(script)
    await new Promise((resolve) => child.on('close', resolve))
    const output = JSON.parse(out)
    expect(output).toEqual({
      ...{ hash: expect.any(String), right: true, wrong: false, noHash: false },
      ...{ foreign: true, foreignWrong: false },
    })
    expect(output.hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(await verifyPassword('caf\u00e9', output.hash)).toBe(true)
    expect(await verifyPassword('wrong', output.hash)).toBe(false)
  }, 300_000)
})
