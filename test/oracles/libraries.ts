import { createPublicKey } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LinearWebhookClient } from '@linear/sdk/webhooks';
import { signWebhookPayload, verifyWebhookSignature } from '@notionhq/client';
import * as octokit from '@octokit/webhooks-methods';
import { Paddle } from '@paddle/paddle-node-sdk';
import { encodeSignatureHeader, isValidSignature } from '@sanity/webhook';
import { EventWebhook } from '@sendgrid/eventwebhook';
import '@shopify/shopify-api/adapters/node';
import { ApiVersion, shopifyApi } from '@shopify/shopify-api';
import { verifyKey } from 'discord-interactions';
import { WebhookSignatureValidator } from 'mercadopago';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import twilio from 'twilio';
import { privateKey, publicKeyBytes } from '../../src/providers/key-pair.ts';

/** A request that a sender's own library is asked about. */
export interface Asked {
  body: Uint8Array;
  /** Names in lower case. */
  headers: Record<string, string>;
  query: Record<string, string>;
  /** Of a sender with a key pair, its private key. */
  secret: string;
  /** The address that the sender calls. */
  url: string;
}

/** A sender's own library, as the judge of what is signed here. */
export interface Library {
  /** Whether it takes the request for one of the sender's. */
  accepts(asked: Asked): boolean | Promise<boolean>;
  /** The headers that it signs a body with (seconds since 1970); not every library can. */
  sign?(asked: Asked, timestamp: number): Promise<Record<string, string>>;
}

const text = (body: Uint8Array) => Buffer.from(body).toString();
const fields = (body: Uint8Array) => Object.fromEntries(new URLSearchParams(text(body)));

/** Whether a check that throws at what it refuses lets a request pass. */
function passes(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

const stripe = new Stripe('sk_test_none');
const paddle = new Paddle('none');

const standard: Library = {
  accepts: ({ body, headers, secret }) =>
    passes(() => new StandardWebhook(secret).verify(text(body), headers)),
  sign: async ({ body, headers, secret }, timestamp) => ({
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': new StandardWebhook(secret).sign(
      headers['webhook-id'] ?? '',
      new Date(timestamp * 1000),
      text(body),
    ),
  }),
};

const svix: Library = {
  accepts: ({ body, headers, secret }) => passes(() => new SvixWebhook(secret).verify(text(body), headers)),
  sign: async ({ body, headers, secret }, timestamp) => ({
    'svix-timestamp': `${timestamp}`,
    'svix-signature': new SvixWebhook(secret).sign(
      headers['svix-id'] ?? '',
      new Date(timestamp * 1000),
      text(body),
    ),
  }),
};

const discord: Library = {
  async accepts({ body, headers, secret }) {
    if (!passes(() => privateKey('ed25519', secret))) return false;
    const key = Buffer.from(publicKeyBytes('ed25519', secret)).toString('hex');
    const { 'x-signature-ed25519': signature = '', 'x-signature-timestamp': time = '' } = headers;
    return verifyKey(Buffer.from(body), signature, time, key);
  },
};

/** By the slug of the provider. */
export const libraries: Record<string, Library> = {
  'standard-webhooks': standard,
  svix,
  clerk: svix,
  resend: svix,
  'discord-interactions': discord,
  'discord-events': discord,
  sendgrid: {
    accepts({ body, headers, secret }) {
      if (!passes(() => privateKey('p256', secret))) return false;
      const webhook = new EventWebhook();
      const spki = createPublicKey(privateKey('p256', secret)).export({ format: 'der', type: 'spki' });
      return webhook.verifySignature(
        webhook.convertPublicKeyToECDSA(spki.toString('base64')),
        text(body),
        headers['x-twilio-email-event-webhook-signature'] ?? '',
        headers['x-twilio-email-event-webhook-timestamp'] ?? '',
      );
    },
  },
  stripe: {
    accepts: ({ body, headers, secret }) =>
      passes(() => stripe.webhooks.constructEvent(text(body), headers['stripe-signature'] ?? '', secret)),
    sign: async ({ body, secret }, timestamp) => ({
      'stripe-signature': stripe.webhooks.generateTestHeaderString({
        payload: text(body),
        secret,
        timestamp,
      }),
    }),
  },
  twilio: {
    accepts: ({ body, headers, secret, url }) =>
      twilio.validateRequest(secret, headers['x-twilio-signature'] ?? '', url, fields(body)),
    sign: async ({ body, secret, url }) => ({
      'x-twilio-signature': twilio.getExpectedTwilioSignature(secret, url, fields(body)),
    }),
  },
  notion: {
    accepts: ({ body, headers, secret }) =>
      verifyWebhookSignature({ body, signature: headers['x-notion-signature'], verificationToken: secret }),
    sign: async ({ body, secret }) => ({
      'x-notion-signature': await signWebhookPayload({ body, verificationToken: secret }),
    }),
  },
  linear: {
    accepts: ({ body, headers, secret }) =>
      passes(() =>
        new LinearWebhookClient(secret).verify(
          Buffer.from(body),
          headers['linear-signature'] ?? '',
          JSON.parse(text(body)).webhookTimestamp,
        ),
      ),
  },
  sanity: {
    accepts: ({ body, headers, secret }) =>
      isValidSignature(text(body), headers['sanity-webhook-signature'] ?? '', secret),
    sign: async ({ body, secret }, timestamp) => ({
      'sanity-webhook-signature': await encodeSignatureHeader(text(body), timestamp * 1000, secret),
    }),
  },
  github: {
    accepts: ({ body, headers, secret }) =>
      octokit.verify(secret, text(body), headers['x-hub-signature-256'] ?? 'none'),
    sign: async ({ body, secret }) => ({ 'x-hub-signature-256': await octokit.sign(secret, text(body)) }),
  },
  paddle: {
    accepts: ({ body, headers, secret }) =>
      paddle.webhooks.isSignatureValid(text(body), secret, headers['paddle-signature'] ?? ''),
  },
  shopify: {
    accepts: async ({ body, headers, secret }) => {
      const shop = shopifyApi({
        apiKey: 'none',
        apiSecretKey: secret,
        apiVersion: ApiVersion.July26,
        hostName: 'shop.example.com',
        isEmbeddedApp: false,
      });
      const rawRequest = { method: 'POST', url: '/', headers } as unknown as IncomingMessage;
      const rawResponse = {} as ServerResponse;
      return (await shop.webhooks.validate({ rawBody: text(body), rawRequest, rawResponse })).valid;
    },
  },
  mercadopago: {
    accepts: ({ headers, query, secret }) =>
      passes(() =>
        WebhookSignatureValidator.validate({
          xSignature: headers['x-signature'],
          xRequestId: headers['x-request-id'],
          dataId: query['data.id'],
          secret,
        }),
      ),
  },
};
