import { randomBytes } from 'node:crypto';
import { connect } from '../../src/ledger/connect.ts';
import { shapeLogin, withoutCollision } from '../../src/ledger/login.ts';
import { scramVerifier } from '../../src/ledger/scram.ts';
import { digest, plainErrors, SETTING } from './tell.ts';

export interface LoginInputs {
  /** The address by which an administrator of the role connects. */
  connection: string;
  role: string;
  /** Pinned on the role. */
  settings: Record<string, string>;
  /** Another number has a new password made. */
  version: number;
  /** Taken as it is where given; made here otherwise. */
  password?: string;
}

/** No connection is among them: nothing is done when the resource goes. */
export interface LoginOutputs {
  role: string;
  settings: Record<string, string>;
  version: number;
  password: string;
}

/** How a role comes to its password and settings. */
export const loginWork = {
  async diff(olds: LoginOutputs, news: LoginInputs): Promise<{ changes: boolean }> {
    const same =
      olds.role === news.role &&
      olds.version === news.version &&
      digest(olds.settings) === digest(news.settings) &&
      (news.password === undefined || news.password === olds.password);
    return { changes: !same };
  },

  async create(inputs: LoginInputs): Promise<{ id: string; outs: LoginOutputs }> {
    return { id: inputs.role, outs: await shape(inputs, inputs.password ?? newPassword()) };
  },

  async update(olds: LoginOutputs, news: LoginInputs): Promise<{ outs: LoginOutputs }> {
    const kept = olds.version === news.version ? olds.password : newPassword();
    return { outs: await shape(news, news.password ?? kept) };
  },
};

function shape(inputs: LoginInputs, password: string): Promise<LoginOutputs> {
  return plainErrors(async () => {
    const { role, settings, version } = inputs;
    // A verifier: so no log of the server's statements can hold the password.
    const verifier = scramVerifier(password, `The password of ${role}`);
    const client = await connect(inputs.connection, { setting: SETTING });
    try {
      await withoutCollision(client, () => shapeLogin(client, { role, settings, verifier }));
    } finally {
      await client.end();
    }
    return { role, settings, version, password };
  });
}

/** 192 bits, in letters that no form, file or URL has to quote. */
function newPassword(): string {
  return randomBytes(24).toString('hex');
}
