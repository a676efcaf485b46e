import { describe, expect, test } from 'bun:test'
import { FieldProblem } from '../../plugins/shared/field-problem.ts'
import { formatOf, sizeOf } from '../../plugins/video-generation/tasks/request/sizes.ts'
import { thrown } from '../clients/fixture.ts'
import { formRequest, jsonRequest, png, translate } from './videos-fixture.ts'

const paramOf = async (request: Request, aliases?: Record<string, string>) => {
  const error = await thrown(translate(request, aliases))
  if (!(error instanceof FieldProblem)) throw error
  expect(error.status).toBe(400)
  expect(error.message).toContain(error.param ?? '-')
  return error.param
}

describe('a create request', () => {
  test('gets the defaults of the OpenAI API', async () => {
    const { body, notes } = await translate(formRequest({ prompt: 'a cat' }))
    expect(body).toEqual({
      model: 'seedance',
      content: [{ type: 'text', text: 'a cat' }],
      ...{ resolution: '720p', ratio: '9:16', duration: 4, return_last_frame: true },
    })
    expect(notes).toEqual({ prompt: 'a cat', model: 'sora-2', seconds: '4', size: '720x1280' })
  })

  test('names model, length and size, in a form and in JSON', async () => {
    const named = { prompt: 'a cat', model: 'ep-1', seconds: '12', size: '1920x1080' }
    for (const request of [formRequest(named), jsonRequest(named), jsonRequest({ ...named, seconds: 12 })]) {
      const { body, notes } = await translate(request)
      expect(body).toMatchObject({ model: 'ep-1', resolution: '1080p', ratio: '16:9', duration: 12 })
      expect(notes).toEqual(named)
    }
  })

  test('with a file has it as first frame, whatever its sender says about the type', async () => {
    const base64 = Buffer.from(png).toString('base64')
    for (const type of ['image/png', 'application/octet-stream', 'text/html', '']) {
      const { body } = await translate(formRequest({ prompt: 'a', input_reference: new File([png], 'a', { type }) }))
      expect(body.content[1]).toEqual({
        ...{ type: 'image_url', role: 'first_frame' },
        image_url: { url: `data:image/png;base64,${base64}` },
      })
      expect(body).toMatchObject({ ratio: 'adaptive', resolution: '720p' })
    }
  })

  test('with the address of an image has it as it is: the service checks owners', async () => {
    for (const url of ['https://a.example/b.png', 'asset://asset-1', 'data:image/png;base64,AAAA', ' ASSET:x']) {
      const form = await translate(formRequest({ prompt: 'a', 'input_reference[image_url]': url }))
      const json = await translate(jsonRequest({ prompt: 'a', input_reference: { image_url: url } }))
      expect(form.body.content[1]?.image_url).toEqual({ url })
      expect(json).toEqual(form)
    }
  })

  test('that is wrong is rejected with the name of the field', async () => {
    expect(await paramOf(formRequest({ model: 'a' }))).toBe('prompt')
    expect(await paramOf(formRequest({ prompt: '' }))).toBe('prompt')
    expect(await paramOf(formRequest({ prompt: 'a'.repeat(32_001) }))).toBe('prompt')
    expect(await paramOf(formRequest({ prompt: new File([png], 'a') }))).toBe('prompt')
    expect(await paramOf(formRequest({ prompt: 'a' }), {})).toBe('model')
    for (const seconds of ['0', '-1', '4.5', 'four', '04', '1e1', '9999', ' 4'])
      expect(await paramOf(formRequest({ prompt: 'a', seconds }))).toBe('seconds')
    for (const size of ['1792x1024', '1280X720', '1280', '0x0', 'auto', 'constructor'])
      expect(await paramOf(formRequest({ prompt: 'a', size }))).toBe('size')
    const fileId = { prompt: 'a', input_reference: { file_id: 'file-1' } }
    expect(await paramOf(jsonRequest(fileId))).toBe('input_reference.file_id')
    for (const reference of ['https://a.example/b.png', new File(['<svg>'], 'a.png', { type: 'image/png' })])
      expect(await paramOf(formRequest({ prompt: 'a', input_reference: reference }))).toBe('input_reference')
    const both = {
      prompt: 'a',
      input_reference: new File([png], 'a'),
      'input_reference[image_url]': 'https://a.example',
    }
    expect(await paramOf(formRequest(both))).toBe('input_reference')
    for (const parts of [[], [png, new Uint8Array(30 * 2 ** 20)]]) {
      const input_reference = new File(parts, 'a')
      expect(await paramOf(formRequest({ prompt: 'a', input_reference }))).toBe('input_reference')
    }
  })

  test('an alias is no member that every object has', async () => {
    const { body } = await translate(formRequest({ prompt: 'a', model: 'constructor' }))
    expect(body.model).toBe('constructor')
  })
})

test('every size of the vendor leads to its format and back', () => {
  expect(formatOf('1280x720')).toEqual({ resolution: '720p', ratio: '16:9' })
  expect(formatOf('720x1280')).toEqual({ resolution: '720p', ratio: '9:16' })
  expect(formatOf('1088x1920')).toEqual({ resolution: '1080p', ratio: '9:16' })
  expect(formatOf('2160x3840')).toEqual({ resolution: '4k', ratio: '9:16' })
  for (const resolution of ['480p', '720p', '1080p', '4k']) {
    for (const ratio of ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9']) {
      const size = sizeOf({ resolution, ratio }) ?? ''
      expect(formatOf(size)).toEqual({ resolution, ratio })
      const [width = 0, height = 0] = size.split('x').map(Number)
      const [w = 0, h = 0] = ratio.split(':').map(Number)
      expect(Math.abs(width / height / (w / h) - 1)).toBeLessThan(0.03)
    }
  }
  expect(sizeOf({ resolution: '720p', ratio: 'adaptive' })).toBeUndefined()
})
