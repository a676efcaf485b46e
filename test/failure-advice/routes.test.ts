import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { allAdvice, type FailureAdvice, failureAdvice } from 'sluice/failure-advice'

const app = new Elysia().use(failureAdvice())
const ask = async (path: string) => {
  const response = await app.handle(new Request(`http://localhost/api/failure-advice${path}`))
  const json = (await response.json()) as {
    readonly advice: FailureAdvice
    readonly error?: { readonly message: string }
  }
  return { status: response.status, headers: response.headers, json }
}

test('the list has every entry, and caches may keep it', async () => {
  const { status, headers, json } = await ask('')
  expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=3600'])
  expect<unknown>(json).toEqual({ success: true, advice: allAdvice() })
})

test('one code, with a message that tells what it means', async () => {
  expect((await ask('/InputImageSensitiveContentDetected.PrivacyInformation')).json.advice.change).toBe('register_face')
  expect((await ask('/QuotaExceeded')).json.advice.by).toBe('vendor')
  expect((await ask('/QuotaExceeded?message=your%20weekly%20quota')).json.advice.by).toBe('operator')
})

test('an unknown code is 404, and its bytes stand nowhere in the response', async () => {
  const { status, json } = await ask('/%3Cscript%3E')
  expect([status, json.error?.message]).toEqual([404, 'nothing is known about this code'])
})
