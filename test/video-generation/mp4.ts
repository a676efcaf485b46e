/** A box of an MP4 file (ISO/IEC 14496-12 section 4.2). */
interface Box {
  readonly type: string
  readonly start: number
  readonly content: Buffer
}

const boxesOf = (file: Buffer, start = 0): readonly Box[] => {
  const boxes: Box[] = []
  for (let at = 0; at < file.length; ) {
    const size = file.readUInt32BE(at)
    if (size < 8 || at + size > file.length) throw new Error(`a box at ${start + at} ends after the file`)
    boxes.push({
      type: file.toString('latin1', at + 4, at + 8),
      start: start + at + 8,
      content: file.subarray(at + 8, at + size),
    })
    at += size
  }
  return boxes
}

const within = (box: Box, path: readonly string[]): Box => {
  const [type, ...rest] = path
  const found = boxesOf(box.content, box.start).find((each) => each.type === type)
  if (!found) throw new Error(`${box.type} has no ${type}`)
  return rest.length === 0 ? found : within(found, rest)
}

/**
 * Reads an MP4 file as a player does: all boxes are complete, and all samples of the first track are in the media data. Throws otherwise. Returns the
 * number of samples and their length in seconds.
 */
export const playMp4 = (file: Buffer): { readonly samples: number; readonly seconds: number } => {
  const boxes = boxesOf(file)
  if (boxes[0]?.type !== 'ftyp') throw new Error('the file does not begin with ftyp')
  const root: Box = { type: 'the file', start: 0, content: file }
  const data = within(root, ['mdat'])
  const media = within(root, ['moov', 'trak', 'mdia'])
  const table = within(media, ['minf', 'stbl'])
  const sizes = within(table, ['stsz']).content
  const samples = sizes.readUInt32BE(8)
  const common = sizes.readUInt32BE(4)
  let length = 0
  for (let nth = 0; nth < samples; nth++) length += common || sizes.readUInt32BE(12 + 4 * nth)
  const offsets = within(table, ['stco']).content
  for (let nth = 0; nth < offsets.readUInt32BE(4); nth++) {
    const offset = offsets.readUInt32BE(8 + 4 * nth)
    if (offset < data.start || offset >= data.start + data.content.length)
      throw new Error(`chunk ${nth} is not in the media data`)
  }
  if (length > data.content.length) throw new Error('the media data are cut off')
  const times = within(table, ['stts']).content
  let duration = 0
  for (let nth = 0; nth < times.readUInt32BE(4); nth++)
    duration += times.readUInt32BE(8 + 8 * nth) * times.readUInt32BE(12 + 8 * nth)
  return { samples, seconds: duration / within(media, ['mdhd']).content.readUInt32BE(12) }
}
