import { expect, test } from 'bun:test'
import { countInFlight, type InFlight } from '../../plugins/shared/http/in-flight.ts'
import { bytesPerTurn, composeInTurns, turns } from '../../plugins/shared/json/json.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { toTask } from '../../plugins/video-generation/videos/request/video-request.ts'
import { createVideos, type VideosOptions } from '../../plugins/video-generation/videos/routes.ts'
import { thrown } from '../clients/fixture.ts'
import { end, formRequest, jsonRequest, part, png, rawForm, read, type TaskRequest } from './videos-fixture.ts'

const image = Buffer.concat([png, Buffer.alloc(8 * bytesPerTurn, 'ab\xff', 'latin1')])
const base64 = image.toString('base64')
const url = `data:image/png;base64,${base64}`
const aliases = { 'sora-2': 'seedance' }

/** The result of some work, and how often the event loop turned. */
const withTurns = async <Result>(work: () => Promise<Result>): Promise<[Result, number]> => {
  const before = turns.count
  return [await work(), turns.count - before]
}

const urlOf = (bytes: Uint8Array) => {
  const { content } = JSON.parse(Buffer.from(bytes).toString()) as TaskRequest
  return content[1]?.image_url?.url
}

test('a large file of a form is found, encoded and composed about a MiB in a turn of the event loop', async () => {
  const request = formRequest({ prompt: 'a cat', input_reference: new File([image], 'a.png') })
  const [fields, turnsOfRead] = await withTurns(() => read(request))
  expect(turnsOfRead).toBeGreaterThan(7)
  const { body } = toTask(fields, aliases)
  const [bytes, turnsOfCompose] = await withTurns(() => composeInTurns(body))
  expect(turnsOfCompose).toBeGreaterThan(18)
  expect(urlOf(bytes) === url).toBe(true)
})

test('a step encodes a part of a file', async () => {
  const { body } = toTask(
    await read(formRequest({ prompt: 'a cat', input_reference: new File([image], 'a') })),
    aliases,
  )
  const { toString: decode } = Buffer.prototype
  let longest = 0
  Buffer.prototype.toString = function (this: Buffer, ...given: Parameters<typeof decode>) {
    if (given[0] === 'base64') longest = Math.max(longest, this.length)
    return decode.apply(this, given)
  }
  await composeInTurns(body)
  Buffer.prototype.toString = decode
  expect(longest).toBeWithin(1_000, 2 ** 16)
})

test('a boundary is found wherever a turn ends', async () => {
  const head = part('input_reference', '', '; filename="a"').slice(0, -2)
  for (let before = 0; before < 20; before++) {
    const content = 'x'.repeat(bytesPerTurn - head.length - before)
    const fields = await read(rawForm(`${head}${content}\r\n${part('prompt', 'b')}${end}`))
    expect(fields.get('prompt')).toBe('b')
    expect((fields.get('input_reference') as Uint8Array).length).toBe(content.length)
  }
})

test('a long address is neither decoded nor encoded at once, in JSON and in a form', async () => {
  for (const request of [
    jsonRequest({ prompt: 'a cat', input_reference: { image_url: url } }),
    formRequest({ prompt: 'a cat', 'input_reference[image_url]': url }),
  ]) {
    const fields = await read(request)
    expect(fields.get('input_reference.image_url')).toMatchObject({ bytes: expect.any(Number) })
    const [bytes, turnsOfCompose] = await withTurns(() => composeInTurns(toTask(fields, aliases).body))
    expect(turnsOfCompose).toBeGreaterThan(9)
    expect(urlOf(bytes) === url).toBe(true)
  }
})

test('any other long text is rejected', async () => {
  const long = 'x'.repeat(bytesPerTurn)
  for (const of of [jsonRequest, formRequest]) {
    const prompt = await read(of({ prompt: long }))
    expect(() => toTask(prompt, aliases)).toThrow('prompt must have at most 32000 characters')
    const model = await read(of({ prompt: 'a', model: long }))
    expect(() => toTask(model, aliases)).toThrow('model is too long')
  }
})

const videosWith = (once: VideosOptions['service']['once'] = () => Promise.reject(new Error('not reached'))) =>
  createVideos({ service: { once, tasks: {} }, aliases, maxBodyBytes: 2 ** 25 } as unknown as VideosOptions)
const caller = { user: 'ann', token: undefined }

test('the request for the upstream counts as bytes of bodies before it is composed', async () => {
  const form = () => formRequest({ prompt: 'a cat', input_reference: new File([image], 'a.png') })
  const request = form()
  const counted: number[] = []
  countInFlight(request, {
    reading(bytes: number) {
      counted.push(bytes)
      if (bytes > image.length) throw new Problem(429, 'too many bytes of bodies at once')
    },
  } as InFlight)
  const [error, turned] = await withTurns(() => thrown(videosWith().create({ request, caller, id: '' })))
  expect(error).toMatchObject({ status: 429 })
  expect(counted.at(-1)).toBeWithin(base64.length, base64.length + 100)
  const [, turnsOfForm] = await withTurns(() => read(form()))
  expect(turned).toBe(turnsOfForm)
})

test('a derivation has no file, whatever its length', async () => {
  let repeated = 0
  const videos = videosWith(async ({ body }, create) => {
    repeated = body.length
    return create(undefined) as never
  })
  const request = formRequest({ prompt: new File([image], 'a.png') })
  const error = await thrown(videos.remix({ request, caller, id: 'cgt-1' }))
  expect(error).toBeInstanceOf(Error)
  expect(repeated).toBeLessThan(100)
})
